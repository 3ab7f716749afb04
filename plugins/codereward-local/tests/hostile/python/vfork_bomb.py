# expect: wall_seconds
import subprocess
while True:
    try: subprocess.Popen(['sleep', '99'])
    except OSError: pass
