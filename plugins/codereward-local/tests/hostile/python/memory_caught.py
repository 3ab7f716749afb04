# expect: bounded
kept = []
while True:
    try: kept.append(bytes(10**7))
    except MemoryError: kept.clear()
