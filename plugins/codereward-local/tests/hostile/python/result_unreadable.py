# expect: contained
import os
d = os.path.dirname(os.environ['CODEREWARD_RESULT'])
os.chmod(d, 0)
