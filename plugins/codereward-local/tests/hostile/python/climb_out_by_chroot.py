# expect: contained
from harm import *
os.mkdir('jail')
attempt('chroot', lambda: os.chroot('jail'))
for _ in range(20): os.chdir('..')
attempt('chroot up', lambda: os.chroot('.'))
readable('etc/shadow')
