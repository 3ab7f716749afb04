# expect: contained
import socket
from harm import *
for fd in range(0, 64):
    try: channel = socket.socket(fileno=fd)
    except OSError: continue
    attempt(f'socket {fd}', lambda: channel.send(b'{"status": 0}'))
