open('/dev/shm/mark', 'w')
# ---- the next program
import os; print('mark' in os.listdir('/dev/shm'))
