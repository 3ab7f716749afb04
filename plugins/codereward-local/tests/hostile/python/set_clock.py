# expect: contained
import time
from harm import *
attempt('clock', lambda: time.clock_settime(time.CLOCK_REALTIME, 0))
