# expect: contained
from harm import *
attempt('traceme', lambda: LIBC.ptrace(0, 0, 0, 0))
