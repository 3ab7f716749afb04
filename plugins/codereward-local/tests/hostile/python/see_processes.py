# expect: contained
from harm import *
seen = [p for p in os.listdir('/proc') if p.isdigit()]
if len(seen) > 2: won(str(seen))
