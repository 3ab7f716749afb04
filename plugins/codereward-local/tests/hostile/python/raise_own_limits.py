# expect: contained
import resource
from harm import *
for which in (resource.RLIMIT_CPU, resource.RLIMIT_NPROC, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE):
    attempt(str(which), lambda: resource.setrlimit(which, (-1, -1)))
