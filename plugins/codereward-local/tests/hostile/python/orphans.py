# expect: ends
import subprocess
for _ in range(8): subprocess.Popen(['sleep', '77'], start_new_session=True)
