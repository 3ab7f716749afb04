"""How a pipeline is composed, configured and called."""

from __future__ import annotations

import pickle

import pytest

import codereward.trl
from codereward import (
    ConfigError,
    DatasetError,
    Outcome,
    RewardPipeline,
    UnknownNameError,
)
from codereward.completions import text_of
from codereward.metrics import printable, quantile
from codereward.scorers import Partial
from codereward.testing.fake import FakeExecutor


def pipeline(**options: object) -> RewardPipeline:
    return RewardPipeline(**{"executor": FakeExecutor(), **options})


def fenced(snippet: str) -> str:
    return f"Here you are:\n\n```python\n{snippet}\n```\n"


def test_components_are_names_mappings_or_instances():
    """In any mix."""
    reward = pipeline(
        extractor={"name": "fenced", "strict": True},
        harness={"name": "python", "limits": {"wall_seconds": 2.5}},
        scorer=Partial(),
    )

    assert reward(completions=[fenced("return [1, 2]")], test=["f()"], expected=[[1, 3]]) == [0.5]
    assert reward.harnesses[0].limits.wall_seconds == 2.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scorer": "exakt"}, "Did you mean 'exact'"),
        ({"extractor": {"strict": True}}, "needs a 'name': one of fenced"),
        ({"extractor": {"name": "fenced", "strickt": True}}, "strickt"),
        ({"harness": {"name": "python", "limits": {"wall": 3}}}, "wall"),
        ({"harness": {"name": "python", "limits": {"wall_seconds": -3}}}, "wall_seconds must be positive"),
        ({"max_concurrency": 0}, "max_concurrency=0"),
        ({"max_concurrency": True}, "max_concurrency=True"),
        ({"batch_seconds": "long"}, "batch_seconds='long'"),
        ({"name": "my reward"}, "identifier"),
        ({"name": "score"}, "no method of RewardPipeline"),
        ({"expected_format": "yaml"}, "'value' or 'json'"),
        ({"outcome_rewards": {"nocode": -1}}, "outcome_rewards names 'nocode'"),
        ({"outcome_rewards": {"unavailable": 0}}, "outcome_rewards names 'unavailable'"),
        ({"scorers": "exact"}, "no argument 'scorers'"),
        ({"completions": [], "prompts": []}, "needs an instance"),
    ],
)
def test_a_wrong_configuration_is_refused_at_once(options, message):
    """Before anything starts, with the next step in the message."""
    with pytest.raises(ConfigError, match=message):
        pipeline(**options)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({}, ConfigError, "completions="),
        (
            {"completions": ["a"], "test": ["f()"]},
            DatasetError,
            r"needs a column 'expected'; the row has: test",
        ),
        ({"completions": ["a"], "expected": [1]}, DatasetError, "needs a column 'test'"),
        (
            {"completions": ["a"], "test": ["f()", "g()"], "expected": [1]},
            ConfigError,
            "2 values for 1 completions",
        ),
        ({"completions": ["a"], "test": "f()", "expected": [1]}, ConfigError, "pass a list"),
        ({"completions": ["a"], "test": [""], "expected": [1]}, DatasetError, "text with something in it"),
        ({"completions": ["a"], "test": ["f("], "expected": [1]}, DatasetError, "is no expression"),
        ({"completions": ["a"], "test": ["x = 1"], "expected": [1]}, DatasetError, "is no expression"),
        ({"completions": [3], "test": ["f()"], "expected": [1]}, ConfigError, "completion 0 is a int"),
        (
            {"completions": ["a"], "kind": ["poetry"], "test": ["f()"], "expected": [1]},
            DatasetError,
            "no kind 'poetry'; it has: expression",
        ),
        (
            {"completions": ["a"], "kind": ["cases"], "tests": [[]], "expected": [[]]},
            DatasetError,
            "at least one text",
        ),
        (
            {"completions": ["a"], "kind": ["cases"], "tests": [["f()"]], "expected": [[1, 2]]},
            DatasetError,
            "a list of 1 values",
        ),
    ],
)
def test_a_wrong_call_is_refused_before_anything_runs(call, error, message):
    """The message names the column, the row and the way out."""
    executor = FakeExecutor()
    with pytest.raises(error, match=message):
        pipeline(executor=executor)(**call)
    assert executor.programs == []


def test_columns_are_renamed():
    """`columns=` maps codereward's names to the data set's."""
    reward = pipeline(columns={"test": "unit_test", "expected": "answer"})

    assert reward(completions=[fenced("return 1")], unit_test=["f()"], answer=[1]) == [1.0]
    with pytest.raises(ConfigError, match=r"names the column 'unit_test'; the data set has: test"):
        reward(completions=["a"], test=["f()"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2]", [1, 2]),
        ("true", True),
        ('"2020-01-02"', "2020-01-02"),
        ("12345678901234567890123", 12345678901234567890123),
    ],
)
def test_expected_values_can_be_json_text(text, value):
    """One string column holds values of any type."""
    reward = pipeline(expected_format="json")

    assert reward(completions=[fenced(f"return {text}")], test=["f()"], expected=[text]) == [1.0]


@pytest.mark.parametrize(
    ("value", "message"),
    [("[1", "no JSON"), (1, "asks for JSON text"), ('{"a": 1, "a": 2}', "repeats a key")],
)
def test_expected_values_that_cannot_be_decoded_are_the_data_sets_fault(value, message):
    """An undecodable answer never becomes a score."""
    with pytest.raises(DatasetError, match=message):
        pipeline(expected_format="json")(completions=["a"], test=["f()"], expected=[value])


def test_cases_are_programs_of_their_own():
    """A case each, in order; what one does costs the others nothing; the score is by case."""
    executor = FakeExecutor()
    verdict = pipeline(executor=executor, kind="cases", scorer="partial").score(
        [fenced("return 1")], tests=[["f(1)", "f(2)"]], expected=[[1, 2]]
    )[0]

    assert verdict.score == 0.5
    assert [case.value for case in verdict.cases] == [1, 1]
    assert len(executor.programs[0].commands) == 2


def test_outcomes_can_have_rewards_of_their_own():
    """The score stays what it is; the reward is what the trainer gets."""
    reward = pipeline(outcome_rewards={"no_code": -0.5, "timed_out": -0.1})
    verdicts = reward.score(
        [fenced("loop"), "I cannot do that.", fenced("return 1")], test=["f()"] * 3, expected=[1] * 3
    )

    assert [(one.score, one.reward) for one in verdicts] == [(0.0, -0.1), (0.0, -0.5), (1.0, 1.0)]


def test_several_harnesses_are_chosen_by_the_rows_language():
    """A row of a language that nobody runs is the data set's fault."""

    class Other(type(pipeline().harnesses[0])):
        language = "other"
        tags = ("other", "oth")

    reward = pipeline(harness=["python", Other()])
    completions = ["```oth\nreturn 1\n```", fenced("return 1")]

    assert (
        reward(completions=completions, language=["Other", "py"], test=["f()"] * 2, expected=[1] * 2)
        == [1.0] * 2
    )
    with pytest.raises(
        DatasetError, match=r"no harness for the language 'cobol'; the pipeline has: python, other"
    ):
        reward(completions=["a"], language=["cobol"], test=["f()"], expected=[1])


def test_empty_batches_are_fine():
    """With columns or without."""
    assert pipeline()(completions=[], test=[], expected=[]) == []


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("plain", "plain"),
        ([{"role": "assistant", "content": "one"}], "one"),
        (
            [
                {"role": "assistant", "content": "one"},
                {"role": "tool", "content": "two"},
                {"role": "assistant", "content": "three"},
            ],
            "three",
        ),
        (
            [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "image"},
                        {"type": "text", "text": "b"},
                    ],
                }
            ],
            "ab",
        ),
        ([{"role": "assistant", "content": None, "tool_calls": [{}]}], ""),
        ([{"role": "assistant", "tool_calls": [{}]}], ""),
        ([{"role": "assistant", "content": "", "reasoning_content": "```python\nx\n```"}], ""),
        ([{"role": "user", "content": "no"}], ""),
        ([], ""),
        ({"role": "assistant", "content": "alone"}, "alone"),
        (({"role": "assistant", "content": ["x", "y"]},), "xy"),
    ],
)
def test_completions_in_every_shape_that_trainers_pass(completion, text):
    """Strings, messages, parts, turns of tool calls."""
    assert text_of(completion) == text


def test_a_pipeline_from_a_file(tmp_path, monkeypatch):
    """TOML: the constructor's arguments, components as names or tables."""
    path = tmp_path / "reward.toml"
    path.write_text(
        'name = "unit_tests"\nscorer = "partial"\nmax_concurrency = 3\nexpected_format = "json"\n'
        '[extractor]\nname = "fenced"\nstrict = true\n[columns]\ntest = "unit_test"\n[harness]\nname = "python"\nlimits = { wall_seconds = 2 }\n'
    )
    reward = RewardPipeline.from_config(path)

    assert (reward.name, reward.__name__, reward.max_concurrency) == ("unit_tests", "unit_tests", 3)
    monkeypatch.setenv("CODEREWARD_CONFIG", str(path))
    configured = pickle.loads(pickle.dumps(codereward.trl.ConfiguredReward()))
    assert configured.__name__ == "unit_tests"
    assert configured.pipeline.harnesses[0].limits.wall_seconds == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scorer = ", "is no TOML"),
        ("scorr = 'exact'", "the key 'scorr', which means nothing; the keys are"),
        ("scorer = 'x'", "no scorer 'x'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(tmp_path, text, message):
    """The message says where and what."""
    path = tmp_path / "reward.toml"
    path.write_text(text)

    with pytest.raises(ConfigError, match=message):
        RewardPipeline.from_config(path)


def test_a_missing_file_and_a_missing_variable_are_told(tmp_path, monkeypatch):
    """The command line's reward says what it needs."""
    monkeypatch.delenv("CODEREWARD_CONFIG", raising=False)

    with pytest.raises(ConfigError, match=r"cannot read the configuration .*No such file"):
        RewardPipeline.from_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match=r"needs CODEREWARD_CONFIG"):
        codereward.trl.ConfiguredReward()(completions=[])


def test_names_and_instances_pickle_alike():
    """A pipeline made of names is the same after pickling."""
    with pytest.raises(UnknownNameError):
        RewardPipeline(executor="nowhere")
    reward = pickle.loads(pickle.dumps(pipeline(name="copied")))

    assert reward(completions=[fenced("return 1")], test=["f()"], expected=[1]) == [1.0]
    assert "copied" in repr(reward)


def test_logged_text_fits_any_table():
    """No lone surrogates, no escapes; line ends and tabs stay."""
    assert (
        printable("a\ud800\x1b[31m\n\tb\x00")
        == "a?\N{REPLACEMENT CHARACTER}[31m\n\tb\N{REPLACEMENT CHARACTER}"
    )


@pytest.mark.parametrize(
    ("numbers", "share", "value"),
    [([], 0.5, 0.0), ([1.0], 0.95, 1.0), ([1.0, 2.0, 3.0, 4.0], 0.5, 2.0), ([1.0, 2.0, 3.0, 4.0], 0.95, 4.0)],
)
def test_quantiles_are_by_nearest_rank(numbers, share, value):
    """Values that were measured, never between two."""
    assert quantile(numbers, share) == value


def test_large_values_are_scored_but_not_kept():
    """A verdict does not hold megabytes for a whole batch."""
    big = list(range(20_000))
    verdict = pipeline().score([fenced(f"return {big}")], test=["f()"], expected=[big])[0]

    assert verdict.score == 1.0
    assert verdict.outcome is Outcome.SCORED
    assert verdict.observed is codereward.MISSING
