# expect: bounded
import threading, time
while True:
    threading.Thread(target=time.sleep, args=(99,)).start()
