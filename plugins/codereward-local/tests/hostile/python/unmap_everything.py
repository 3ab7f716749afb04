# expect: contained
from harm import *
for line in list(open('/proc/self/maps')):
    words = line.split()
    if len(words) == 5:
        first, last = (int(x, 16) for x in words[0].split('-'))
        LIBC.munmap(ctypes.c_void_p(first), ctypes.c_size_t(last - first))
