# expect: wall_seconds
import os, time
os.closerange(0, 99)
time.sleep(99)
