# expect: contained
from harm import *
attempt('reboot', lambda: LIBC.reboot(0x01234567)); attempt('swap', lambda: LIBC.swapoff(b'/dev/vda'))
