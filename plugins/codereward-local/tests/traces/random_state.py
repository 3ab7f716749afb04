import random; random.seed(1)
# ---- the next program
import random; random.seed(1); print(random.random())
