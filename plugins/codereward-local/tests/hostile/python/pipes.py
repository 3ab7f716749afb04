# expect: bounded
import os
kept = []
while True: kept.append(os.pipe())
