import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN)
# ---- the next program
import signal; print(signal.getsignal(signal.SIGUSR1))
