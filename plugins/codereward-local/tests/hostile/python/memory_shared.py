# expect: memory_bytes
import mmap
block = mmap.mmap(-1, 2**33)
for place in range(0, 2**33, 4096): block[place] = 1
