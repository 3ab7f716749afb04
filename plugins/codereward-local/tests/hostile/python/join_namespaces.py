# expect: contained
from harm import *
for name in os.listdir('/proc/1/ns'):
    attempt(name, lambda: LIBC.setns(os.open('/proc/1/ns/' + name, 0), 0))
