# expect: contained
from harm import *
attempt('umount', lambda: LIBC.umount2(b'/proc', 2)); attempt('umount tmp', lambda: LIBC.umount2(b'/tmp', 2))
