import os, time
if not os.fork():
    os.setsid(); time.sleep(30)
# ---- the next program
import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))
