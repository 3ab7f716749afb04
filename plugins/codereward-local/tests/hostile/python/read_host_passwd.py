# expect: contained
from harm import *
if 'root' in open('/etc/passwd').read(): won('host passwd')
