# expect: contained
import struct
from harm import *
words = ctypes.create_string_buffer(struct.pack('11Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0))
child = LIBC.syscall(435, words, 88)
if child == 0: os._exit(0)
if child > 0: won('clone3')
