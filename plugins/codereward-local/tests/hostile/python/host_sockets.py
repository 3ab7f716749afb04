# expect: contained
import socket
from harm import *
for path in ('/var/run/docker.sock', '/run/docker.sock', '/run/systemd/private', '/run/dbus/system_bus_socket'):
    attempt(path, lambda: socket.socket(socket.AF_UNIX).connect(path))
