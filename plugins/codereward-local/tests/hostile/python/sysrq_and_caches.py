# expect: contained
from harm import *
writable('/proc/sysrq-trigger'); writable('/proc/sys/vm/drop_caches')
