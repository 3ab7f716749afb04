import os, socket, time
s = socket.socket(socket.AF_UNIX); s.bind('\0mark'); s.listen()
if not os.fork(): time.sleep(30)
# ---- the next program
import socket
try: socket.socket(socket.AF_UNIX).connect('\0mark'); print('found')
except OSError: print('gone')
