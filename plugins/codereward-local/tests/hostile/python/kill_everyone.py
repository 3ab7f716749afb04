# expect: contained
import signal
from harm import *
for pid in [-1, 1, *range(3, 3000)]:
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        if pid == -1 and number != signal.SIGTERM: continue
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try: os.kill(pid, number)
        except ProcessLookupError: continue
        if pid > 2: won(f'killed {pid}')
