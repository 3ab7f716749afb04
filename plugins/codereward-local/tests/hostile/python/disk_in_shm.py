# expect: disk_bytes
f = open('/dev/shm/f', 'wb')
while True: f.write(bytes(10**6))
