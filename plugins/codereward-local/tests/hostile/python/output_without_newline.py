# expect: output_bytes
import sys
while True: sys.stdout.write('x')
