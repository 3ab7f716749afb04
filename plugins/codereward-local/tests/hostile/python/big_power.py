# expect: wall_seconds
x = 9 ** 9 ** 9
