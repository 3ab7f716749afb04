# expect: wall_seconds
import os, signal
os.kill(os.getpid(), signal.SIGSTOP)
