# expect: memory_bytes
bytearray(10**12)
