# expect: disk_bytes
import os
f = open('f', 'wb'); os.unlink('f')
while True: f.write(bytes(10**6))
