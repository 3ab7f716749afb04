# expect: contained
from harm import *
buffer = ctypes.create_string_buffer(8)
class Part(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]
mine = Part(ctypes.addressof(buffer), 8); far = Part(0x400000, 8)
attempt('readv', lambda: LIBC.process_vm_readv(1, ctypes.byref(mine), 1, ctypes.byref(far), 1, 0))
