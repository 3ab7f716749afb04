# expect: contained
import socket, sys
from harm import *
attempt('host', lambda: socket.create_connection(('127.0.0.1', int(sys.argv[2])), 1))
