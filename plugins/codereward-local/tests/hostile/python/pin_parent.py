# expect: contained
from harm import *
attempt('affinity', lambda: os.sched_setaffinity(1, {0}))
