import os; os.umask(0o777)
# ---- the next program
import os; print(os.umask(0))
