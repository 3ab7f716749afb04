# expect: wall_seconds
sum(x for x in iter(int, 1))
