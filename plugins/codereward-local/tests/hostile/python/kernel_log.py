# expect: contained
from harm import *
attempt('klog', lambda: LIBC.klogctl(3, ctypes.create_string_buffer(100), 100)); readable('/dev/kmsg'); readable('/proc/kmsg')
