# expect: contained
from harm import *
pidfd = os.pidfd_open(1)
for fd in range(10): attempt(f'fd {fd}', lambda: LIBC.syscall(438, pidfd, fd, 0))
