# expect: output_bytes
import os
while True: os.write(2, b'x' * 10**5)
