# expect: contained
from harm import *
attempt('memfd', lambda: os.memfd_create('x')); attempt('secret', lambda: LIBC.syscall(447, 0))
