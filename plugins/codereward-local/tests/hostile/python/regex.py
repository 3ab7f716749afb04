# expect: wall_seconds
import re
re.match('(a+)+$', 'a' * 60 + 'b')
