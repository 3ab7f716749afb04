"""What the tests of the documentation share."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(HERE))  # the helpers beside this file; pytest's importlib mode adds nothing
