# expect: contained
from harm import *
attempt('shm', lambda: LIBC.shmget(1, 4096, 0o1666)); attempt('msg', lambda: LIBC.msgget(1, 0o1666))
attempt('sem', lambda: LIBC.semget(1, 1, 0o1666)); attempt('mq', lambda: LIBC.syscall(240, b'q', 66, 0o600, 0))
