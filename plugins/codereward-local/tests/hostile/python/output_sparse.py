# expect: bounded
import os
os.ftruncate(1, 10**12)
