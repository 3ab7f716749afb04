import os, time
for _ in range(20):
    if not os.fork(): time.sleep(30)
# ---- the next program
import os
pid = os.fork()
if not pid: os._exit(0)
print(os.waitpid(pid, 0)[1])
