# expect: bounded
import threading
for _ in range(3): threading.Thread(target=lambda: sum(iter(int, 1))).start()
