"""TRL's command line with codereward's ready-made reward."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from answering import PYTHON, RIGHT, answering_model
from training import quick, rows


@pytest.mark.timeout(300)  # two processes import torch, which takes its time on a busy machine
def test_trl_trains_from_a_configuration_file(tmp_path):
    """`trl grpo --config` names `codereward.trl.reward`, whose settings are in the file CODEREWARD_CONFIG names."""
    for part in answering_model(PYTHON):
        part.save_pretrained(tmp_path / "model")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
    (tmp_path / "reward.toml").write_text('name = "passes"\nexecutor = { name = "local", workers = 2 }\n')
    settings = quick(tmp_path / "out") | {
        "model_name_or_path": str(tmp_path / "model"),
        "dataset_name": str(tmp_path / "data"),
        "reward_funcs": ["codereward.trl.reward"],
        "log_completions": True,
    }
    (tmp_path / "run.yaml").write_text(json.dumps(settings))  # JSON is YAML

    trl = Path(sys.executable).with_name("trl")
    done = subprocess.run(
        [trl, "grpo", "--config", tmp_path / "run.yaml"],
        env=os.environ
        | {"CODEREWARD_CONFIG": str(tmp_path / "reward.toml"), "HF_HOME": str(tmp_path / "hub")},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "rewards/passes/mean" in done.stdout + done.stderr

    import pandas as pd

    tables = sorted((tmp_path / "out" / "completions").iterdir())
    assert len(tables) == 2
    for row in pd.concat(map(pd.read_parquet, tables)).to_dict("records"):
        assert row["passes"] == float(row["completion"][0]["content"] == RIGHT)
