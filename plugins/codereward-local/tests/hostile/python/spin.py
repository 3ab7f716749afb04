# expect: wall_seconds
while True: pass
