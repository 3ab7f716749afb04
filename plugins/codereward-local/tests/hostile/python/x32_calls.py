# expect: contained
from harm import *
child = os.fork()
if not child:
    LIBC.syscall(0x40000000 + 39)
    won('x32'); os._exit(0)
os.waitpid(child, 0)
