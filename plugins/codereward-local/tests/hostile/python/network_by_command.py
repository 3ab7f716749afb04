# expect: contained
import subprocess
from harm import *
code = 'exec 3<>/dev/tcp/127.0.0.1/22'
if subprocess.run(['bash', '-c', code], capture_output=True).returncode == 0: won('bash')
