# expect: ends
import os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
while True: time.sleep(0.1)
