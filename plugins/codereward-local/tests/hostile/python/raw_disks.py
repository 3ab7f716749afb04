# expect: contained
from harm import *
for d in ('sda', 'vda', 'nvme0n1', 'mem', 'kmem', 'port', 'kvm', 'fuse', 'loop0', 'net/tun'): readable('/dev/' + d)
