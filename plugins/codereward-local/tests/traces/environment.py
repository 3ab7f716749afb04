import os; os.environ['MARK'] = '1'
# ---- the next program
import os; print('MARK' in os.environ)
