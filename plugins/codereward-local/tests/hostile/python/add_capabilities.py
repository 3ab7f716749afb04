# expect: contained
import struct
from harm import *
head = ctypes.create_string_buffer(struct.pack('II', 0x20080522, 0)); all = ctypes.create_string_buffer(b'\xff' * 24)
attempt('capset', lambda: LIBC.capset(head, all)); attempt('ambient', lambda: LIBC.prctl(47, 2, 21, 0, 0))
