# expect: wall_seconds
import os
while True:
    try: os.fork()
    except OSError: pass
