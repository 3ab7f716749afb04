# expect: contained
from harm import *
for line in open('/proc/self/maps'):
    words = line.split()
    if words[1] == 'r-xp' and len(words) == 5:
        first = int(words[0].split('-')[0], 16)
        LIBC.mprotect(ctypes.c_void_p(first), 4096, 7)
        ctypes.memset(first, 0xCC, 4096)
print('patched')
