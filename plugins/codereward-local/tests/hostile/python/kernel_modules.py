# expect: contained
from harm import *
attempt('init', lambda: LIBC.syscall(175, 0, 0, 0)); attempt('finit', lambda: LIBC.syscall(313, 0, 0, 0))
