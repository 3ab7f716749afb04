# expect: ends
import os, time
if os.fork():
    print('early', flush=True); os._exit(0)
time.sleep(0.3)
print('LATE', flush=True)
