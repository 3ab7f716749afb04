# expect: contained
from harm import *
readable('/sys/kernel/notes'); creatable('/sys/fs/cgroup'); creatable('/sys/fs/cgroup/memory')
