# expect: contained
import json
from harm import *
creatable(os.path.join(os.path.dirname(os.__file__), '__pycache__')); creatable(os.path.dirname(json.__file__))
