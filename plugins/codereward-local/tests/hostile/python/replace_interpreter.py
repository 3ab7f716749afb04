# expect: contained
import sys
from harm import *
writable(os.path.realpath(sys.executable)); writable(os.__file__)
