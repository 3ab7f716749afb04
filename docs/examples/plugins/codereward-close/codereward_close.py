"""Scorer `close`: as `exact`, but floats may differ by less than `tolerance`."""

import codereward
from codereward import Answers, Observation
from codereward.values import json_equal


class Close(codereward.Scorer):
    def __init__(self, tolerance: float = 1e-6) -> None:
        self.tolerance = tolerance

    def score(self, observation: Observation, answers: Answers) -> float:
        seen, wanted = observation.value, answers.value
        return float(json_equal(seen, wanted) or self.near(seen, wanted))

    def near(self, seen: object, wanted: object) -> bool:
        if type(wanted) is int and abs(wanted) < 2**53:
            wanted = float(wanted)
        if not isinstance(seen, float) or not isinstance(wanted, float):
            return False
        return abs(seen - wanted) < self.tolerance


@codereward.hookimpl
def codereward_register_scorers(register: codereward.RegisterScorer) -> None:
    register("close", Close)
