# expect: contained
from harm import *
os.mkdir('a'); attempt('pivot', lambda: LIBC.syscall(155, b'.', b'a'))
