# expect: bounded
kept = []
while True: kept.append(open('/dev/null'))
