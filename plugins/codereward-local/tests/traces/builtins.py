import builtins; builtins.len = lambda _: 0
# ---- the next program
print(len('abc'))
