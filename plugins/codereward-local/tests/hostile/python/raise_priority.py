# expect: contained
from harm import *
attempt('nice', lambda: os.nice(-5)); attempt('fifo', lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5)))
