import os; os.chdir('/')
# ---- the next program
import os; print(os.getcwd())
