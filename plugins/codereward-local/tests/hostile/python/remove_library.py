# expect: contained
from harm import *
attempt('unlink', lambda: os.unlink(os.__file__))
