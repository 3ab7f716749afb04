open('/dev/shm/mark', 'w')
# ---- the next program
import os; print(os.listdir('/dev/shm'))
