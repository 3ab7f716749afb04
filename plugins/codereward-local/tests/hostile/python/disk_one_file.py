# expect: disk_bytes
f = open('f', 'wb')
while True: f.write(bytes(10**6))
