# expect: contained
import socket
from harm import *
attempt('dns', lambda: socket.getaddrinfo('localhost.localdomain.test', 80))
