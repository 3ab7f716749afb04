# expect: contained
import subprocess, shutil
from harm import *
for words in (['sudo', '-n', 'id'], ['su', '-c', 'id'], ['pkexec', 'id'], ['newgrp']):
    if shutil.which(words[0]):
        if 'uid=0' in subprocess.run(words, capture_output=True, text=True, stdin=-3, timeout=5).stdout: won(words[0])
