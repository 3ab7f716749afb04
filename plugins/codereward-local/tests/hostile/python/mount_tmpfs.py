# expect: contained
from harm import *
attempt('mount', lambda: LIBC.mount(b'x', b'/tmp', b'tmpfs', 0, None))
