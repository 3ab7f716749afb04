# expect: ends
import os
os.abort()
