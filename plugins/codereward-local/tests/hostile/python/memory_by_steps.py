# expect: memory_bytes
kept = []
while True: kept.append(bytes(10**6))
