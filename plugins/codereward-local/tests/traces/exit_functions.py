import atexit; atexit.register(print, 'mark')
# ---- the next program
print('clean')
