# expect: contained
from harm import *
readable('../../../../../../etc/shadow')
