# expect: disk_bytes
n = 0
while True:
    n += 1; open(str(n), 'wb').write(b'x' * 5000)
