# expect: contained
from harm import *
for fd in range(3, 1024):
    attempt(f'descriptor {fd}', lambda: os.fstat(fd))
