import sys; sys.modules['mark'] = sys
# ---- the next program
import sys; print('mark' in sys.modules)
