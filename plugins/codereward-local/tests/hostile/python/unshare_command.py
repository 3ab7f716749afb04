# expect: contained
import subprocess
from harm import *
if subprocess.run(['unshare', '-Ur', 'true'], capture_output=True).returncode == 0: won('unshare')
