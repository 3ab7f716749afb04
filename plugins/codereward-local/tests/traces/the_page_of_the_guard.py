import ctypes
for line in open('/proc/self/maps'):
    if 'rw-s' in line and '/dev/zero' in line:
        a, b = (int(x, 16) for x in line.split()[0].split('-'))
        ctypes.memset(a, 77, b - a)
# ---- the next program
import ctypes
for line in open('/proc/self/maps'):
    if 'rw-s' in line and '/dev/zero' in line:
        a, b = (int(x, 16) for x in line.split()[0].split('-'))
        print(b'MMMM' in ctypes.string_at(a, b - a))
