# expect: contained
from harm import *
attempt('attach', lambda: LIBC.ptrace(16, os.getppid(), 0, 0)); attempt('seize', lambda: LIBC.ptrace(0x4206, 1, 0, 0))
