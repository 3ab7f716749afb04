# expect: result_bytes
import os
f = open(os.environ['CODEREWARD_RESULT'], 'wb')
for _ in range(3): f.write(bytes(10**6))
