# expect: ends
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(b'\x0f\x0b')
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
