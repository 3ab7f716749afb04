# expect: contained
import os
os.mkfifo(os.environ['CODEREWARD_RESULT'])
