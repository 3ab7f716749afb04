# expect: memory_bytes
kept = [0]
while True: kept *= 2
