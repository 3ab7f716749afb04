# expect: contained
import os, shutil
d = os.path.dirname(os.environ['CODEREWARD_RESULT'])
shutil.rmtree(d); os.symlink('/etc', d)
