# expect: contained
import os
os.mkdir(os.environ['CODEREWARD_RESULT'])
