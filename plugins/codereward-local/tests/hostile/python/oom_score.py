# expect: contained
from harm import *
attempt('oom', lambda: os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-1000'))
