# expect: contained
import sys
from harm import *
readable(sys.argv[1])
