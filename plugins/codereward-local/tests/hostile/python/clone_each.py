# expect: contained
from harm import *
for flag in (0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x2000000):
    child = LIBC.syscall(56, flag | 17, 0, 0, 0, 0)
    if child == 0: os._exit(0)
    if child > 0: won(hex(flag))
