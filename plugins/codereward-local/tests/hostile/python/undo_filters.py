# expect: contained
from harm import *
attempt('strict off', lambda: LIBC.prctl(22, 0, 0, 0, 0)); attempt('nnp off', lambda: LIBC.prctl(38, 0, 0, 0, 0))
