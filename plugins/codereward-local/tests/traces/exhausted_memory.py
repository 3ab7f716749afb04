x = bytearray(300 * 2**20)
# ---- the next program
print(len(bytearray(200 * 2**20)))
