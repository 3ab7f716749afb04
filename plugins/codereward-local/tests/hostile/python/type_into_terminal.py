# expect: contained
import fcntl
from harm import *
for fd in (0, 1, 2): attempt('tiocsti', lambda: fcntl.ioctl(fd, 0x5412, b'x'))
attempt('tty', lambda: open('/dev/tty'))
