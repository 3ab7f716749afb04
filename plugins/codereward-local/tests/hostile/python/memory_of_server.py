# expect: contained
from harm import *
mark = b'canary-of-' + b'an-earlier-program'
with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', 0) as memory:
    for line in maps:
        first, last = (int(x, 16) for x in line.split()[0].split('-'))
        if 'rw' not in line.split()[1]: continue
        try: memory.seek(first); found = memory.read(last - first)
        except (OSError, ValueError, OverflowError): continue
        if found.count(mark) > 0 and b'program' in found and found.count(b'planted:' + mark): won(line)
