# expect: contained
import os
os.makedirs('a\n\x1b[31m/' + 'x' * 200)
os.symlink('loop', 'loop')
