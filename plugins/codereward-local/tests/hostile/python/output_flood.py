# expect: output_bytes
while True: print('x' * 10**5)
