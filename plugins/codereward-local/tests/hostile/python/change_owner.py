# expect: contained
from harm import *
open('f', 'w').close()
attempt('chown', lambda: os.chown('f', 0, 0))
