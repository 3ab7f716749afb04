# expect: wall_seconds
import time
time.sleep(99)
