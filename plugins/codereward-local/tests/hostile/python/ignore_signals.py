# expect: wall_seconds
import signal, time
for n in range(1, 32):
    try: signal.signal(n, signal.SIG_IGN)
    except OSError: pass
time.sleep(99)
