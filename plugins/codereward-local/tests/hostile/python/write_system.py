# expect: contained
from harm import *
for f in ('/', '/usr', '/usr/bin', '/etc', '/dev', '/proc', '/lib/', '/sbin/'): creatable(f)
