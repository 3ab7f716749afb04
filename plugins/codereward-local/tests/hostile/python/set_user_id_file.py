# expect: contained
import shutil, subprocess
from harm import *
shutil.copy('/usr/bin/id', 'id'); os.chmod('id', 0o6755)
if 'uid=0' in subprocess.run(['./id'], capture_output=True, text=True).stdout: won('root')
