# expect: contained
from harm import *
readable('/proc/1/root/etc/shadow'); readable('/proc/self/root/etc/shadow')
