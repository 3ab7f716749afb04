# expect: memory_bytes
import os, time
for _ in range(12):
    if not os.fork():
        kept = bytearray(b'x' * (40 * 2**20)); time.sleep(99)
time.sleep(99)
