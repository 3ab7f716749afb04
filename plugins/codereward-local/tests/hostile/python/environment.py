# expect: contained
from harm import *
known = {'PATH', 'HOME', 'TMPDIR', 'LANG', 'CODEREWARD_RESULT'}
prefixes = ('PYTHON', 'MALLOC', 'OMP', 'OPENBLAS')
strange = [n for n in os.environ if n not in known and not n.startswith(prefixes)]
if strange: won(str(strange))
if b'SECRET' in open('/proc/self/environ', 'rb').read(): won('environ')
