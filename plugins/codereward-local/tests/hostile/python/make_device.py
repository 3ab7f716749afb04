# expect: contained
import stat
from harm import *
attempt('mknod', lambda: os.mknod('disk', 0o666 | stat.S_IFBLK, os.makedev(8, 0)))
