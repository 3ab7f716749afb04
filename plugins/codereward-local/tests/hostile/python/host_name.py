# expect: contained
import socket
from harm import *
attempt('name', lambda: socket.sethostname('owned'))
