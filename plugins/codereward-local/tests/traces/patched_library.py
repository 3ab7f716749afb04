import json; json.dumps = lambda _: 'mark'
# ---- the next program
import json; print(json.dumps(1))
