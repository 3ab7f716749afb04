# expect: contained
import socket, sys
from harm import *
attempt('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\0' + sys.argv[3]))
