# expect: bounded
import subprocess
subprocess.run(['bash', '-c', 'b() { b | b & }; b; sleep 99'])
