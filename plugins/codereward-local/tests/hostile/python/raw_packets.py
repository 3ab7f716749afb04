# expect: contained
import socket
from harm import *
for family in (2, 10, 15, 16, 17, 29, 30, 31, 38, 40, 44): attempt(f'family {family}', lambda: socket.socket(family, 3))
attempt('netlink', lambda: socket.socket(16, 3, 0))
