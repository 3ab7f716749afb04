"""What the integration tests share: no hub, one thread for torch, helpers that can be imported."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # two busy cores: threads of torch would wait for each other
sys.path.insert(0, str(HERE))  # the helpers beside this file; pytest's importlib mode adds nothing
