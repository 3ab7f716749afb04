# expect: contained
from harm import *
if b'CANARY_OF_HOST' in open('/proc/1/environ', 'rb').read(): won('first')
