open('/tmp/mark', 'w'); open('mark', 'w')
# ---- the next program
import os; print(os.path.exists('/tmp/mark'), os.listdir('.'))
