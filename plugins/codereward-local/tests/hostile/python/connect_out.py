# expect: contained
import socket
from harm import *
attempt('tcp', lambda: socket.create_connection(('127.0.0.1', 22), 1))
attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53)))
