# expect: bounded
import sys
sys.setrecursionlimit(10**9)
def f(): return f()
f()
