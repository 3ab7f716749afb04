# expect: bounded
n = 0
while True:
    n += 1; open('e%d' % n, 'wb').close()
