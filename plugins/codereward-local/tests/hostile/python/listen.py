# expect: contained
import socket
from harm import *
attempt('listen', lambda: socket.create_server(('127.0.0.1', 0)))
