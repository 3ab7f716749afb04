# expect: contained
import os
os.symlink('/etc/passwd', os.environ['CODEREWARD_RESULT'])
