# expect: contained
import resource
from harm import *
attempt('prlimit', lambda: resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)) and None)
