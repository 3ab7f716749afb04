"""Scorer `close`: as `exact`, but a float may differ from the expected number by less than `tolerance`."""

import codereward
from codereward.values import json_equal


class Close(codereward.Scorer):
    def __init__(self, tolerance: float = 1e-6) -> None:
        self.tolerance = tolerance

    def score(self, observation: codereward.Observation, answers: codereward.Answers) -> float:
        return float(
            json_equal(observation.value, answers.value) or self.near(observation.value, answers.value)
        )

    def near(self, seen: object, wanted: object) -> bool:
        if type(wanted) is int and abs(wanted) < 2**53:
            wanted = float(wanted)
        return isinstance(seen, float) and isinstance(wanted, float) and abs(seen - wanted) < self.tolerance


@codereward.hookimpl
def codereward_register_scorers(register: codereward.RegisterScorer) -> None:
    register("close", Close)
