# expect: contained
from harm import *
attempt('personality', lambda: LIBC.personality(0x0040000))
