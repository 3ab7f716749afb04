# expect: contained
from harm import *
for f in ('core_pattern', 'modprobe', 'hostname', 'randomize_va_space'): writable('/proc/sys/kernel/' + f)
