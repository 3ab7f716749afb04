"""`RewardPipeline`: what a trainer calls."""

from __future__ import annotations

import asyncio
import copy
import functools
import itertools
import os
import types
from collections.abc import Callable, Coroutine, Mapping, Sequence
from os import PathLike
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from codereward.batch import Batch, Job, Scoring
from codereward.completions import text_of
from codereward.errors import ConfigError, DatasetError
from codereward.metrics import batch_extras, batch_metrics
from codereward.model import Answers, Outcome, Questions, Verdict
from codereward.observers import Observers
from codereward.protocols import Executor, Extractor, Harness, Row, Scorer
from codereward.registry import Registry, check_component, default_registry
from codereward.rows import ExpectedFormat, Rows
from codereward.runtime import Door
from codereward.scorers import FunctionScorer
from codereward.values import identical
from codereward.wrappers import Attributing

if TYPE_CHECKING:
    from codereward.registry import Kind

__all__ = ["RewardPipeline"]

BATCH_SECONDS: Final = 1500.0
"""Below the 1800 s after which ranks that wait for this one give up (transformers' `ddp_timeout`)."""
MAX_CONCURRENCY: Final = 64


class RewardPipeline:
    """Does the code pass the tests? One reward for each completion.

    Pass an instance to a trainer as a reward function: `GRPOTrainer(reward_funcs=pipeline)`, or its
    asynchronous form: `GRPOTrainer(reward_funcs=pipeline.async_reward)`.

    Each component is a registered name, a mapping with a `name` and the component's options, or an
    instance: `executor="local"`, `executor={"name": "local", "workers": 2}`, `executor=Mine()`.

    Args:
        extractor: Finds the code in a completion.
        harness: Makes programs of it. Several harnesses: each row's column `language` chooses.
        executor: Runs the programs.
        scorer: Compares. A plain function of (observation, answers) will do.
        kind: The kind of test of rows that have no column `kind`.
        columns: codereward's column name → the data set's: `{"test": "unit_test"}`.
        expected_format: `value`: the column `expected` holds values; `json`: JSON text in every row.
        name: What the trainer logs (`rewards/<name>/mean`), and the prefix of every metric.
        max_concurrency: Programs that run at once, over all batches; an executor may allow fewer.
        dedupe: Whether identical programs in a batch run once and share the verdict.
        batch_seconds: Time budget of a batch; what is undecided after it gets no score. The default
            is below the 1800 s after which the other ranks of a distributed run give up.
        outcome_rewards: Rewards that replace the score for some outcomes, as `{"no_code": -0.1}`.
        registry: Where names are looked up; the installed plugins by default.

    Raises:
        ConfigError: Something does not fit; the message says what to change.

    A pipeline is safe to pickle, to fork, and to call from any thread or inside a running loop.
    Nothing is started before the first call. `close()`, or a `with` block, frees everything; so
    does the end of the interpreter. A closed pipeline may be called again.
    """

    def __init__(
        self,
        *,
        extractor: str | Mapping[str, Any] | Extractor = "fenced",
        harness: str | Mapping[str, Any] | Harness | Sequence[str | Mapping[str, Any] | Harness] = "python",
        executor: str | Mapping[str, Any] | Executor = "local",
        scorer: str | Mapping[str, Any] | Scorer | Callable[..., float] = "exact",
        kind: str = "expression",
        columns: Mapping[str, str] | None = None,
        expected_format: ExpectedFormat = "value",
        name: str = "code_reward",
        max_concurrency: int = MAX_CONCURRENCY,
        dedupe: bool = True,
        batch_seconds: float = BATCH_SECONDS,
        outcome_rewards: Mapping[str, float] | None = None,
        registry: Registry | None = None,
        **unknown: object,
    ) -> None:
        refuse_unknown(unknown)
        self.name = self.__name__ = checked_name(name)
        make = functools.partial(component_of, registry or default_registry())
        harnesses = [harness] if isinstance(harness, (str, Mapping)) else harness
        many = harnesses if isinstance(harnesses, Sequence) else [harnesses]
        self.harnesses: list[Harness] = [make("harness", one) for one in many]
        self.executor: Executor = make("executor", executor)
        self._scoring = Scoring(
            extractor=make("extractor", extractor),
            scorer=make("scorer", as_scorer(scorer)),
            outcome_rewards={outcome_of(key): float(value) for key, value in (outcome_rewards or {}).items()},
            dedupe=dedupe,
        )
        self._rows = Rows(columns or {}, kind, expected_format)
        self.max_concurrency = at_least_one("max_concurrency", max_concurrency)
        self.batch_seconds = at_least_one("batch_seconds", batch_seconds)
        self._registry = registry
        self._open()

    @classmethod
    def from_config(cls, source: str | PathLike[str] | Mapping[str, Any]) -> Self:
        """Make a pipeline from a TOML file, or from a mapping of the same shape.

        The keys are the constructor's arguments; a component is a name or a table with a `name`.

        Raises:
            ConfigError: The file cannot be read, or a value does not fit.
        """
        from codereward.config import load

        return cls(**load(source))

    # ------------------------------------------------------------------ calling

    def __call__(
        self,
        prompts: Sequence[object] | None = None,
        completions: Sequence[object] | None = None,
        *,
        completion_ids: object = None,
        trainer_state: object = None,
        environments: object = None,
        log_extra: Callable[[str, list[str]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: object,
    ) -> list[float | None]:
        """Reward completions, as TRL asks for it.

        Args:
            prompts: Not looked at.
            completions: Strings, or lists of messages.
            completion_ids: Not looked at.
            trainer_state: Not looked at.
            environments: Not looked at.
            log_extra: Given full columns of text for the trainer's table of completions.
            log_metric: Given the batch's metrics, always the same keys.
            columns: The data set's columns, one value for each completion.

        Returns:
            One reward for each completion, in order; `None` where the backend was at fault.

        Raises:
            DatasetError: A row cannot be scored; nothing has run.
            BackendMisconfigured: The executor cannot work as configured.
            ConfigError: The call or a component does not fit.
        """
        scored = self._door.call(self._score(completions, columns))
        return self._report(scored, log_extra, log_metric)

    @property
    def async_reward(self) -> Callable[..., Coroutine[Any, Any, list[float | None]]]:
        """The asynchronous form: a bound coroutine method that carries the pipeline's name.

        Trainers await it beside other asynchronous rewards. Every version of TRL recognises a bound
        coroutine method, and it pickles.
        """
        return types.MethodType(renamed(type(self)._reward, self.name), self)  # noqa: SLF001 - own

    def score(self, completions: Sequence[object], **columns: object) -> list[Verdict]:
        """Score completions and say everything about each; the columns are as in a call.

        Raises:
            DatasetError: A row cannot be scored; nothing has run.
            BackendMisconfigured: The executor cannot work as configured.
            ConfigError: The call or a component does not fit.
        """
        return self._door.call(self._score(completions, columns)).verdicts

    async def ascore(self, completions: Sequence[object], **columns: object) -> list[Verdict]:
        """As `score`, for callers that have an event loop of their own."""
        scored = await asyncio.wrap_future(self._door.submit(self._score(completions, columns)))
        return scored.verdicts

    async def _reward(
        self,
        prompts: Sequence[object] | None = None,
        completions: Sequence[object] | None = None,
        *,
        completion_ids: object = None,
        trainer_state: object = None,
        environments: object = None,
        log_extra: Callable[[str, list[str]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: object,
    ) -> list[float | None]:
        """Reward completions, as TRL asks for it, without blocking the caller's loop."""
        scored = await asyncio.wrap_future(self._door.submit(self._score(completions, columns)))
        return self._report(scored, log_extra, log_metric)

    def _report(
        self,
        scored: Scored,
        log_extra: Callable[[str, list[str]], None] | None,
        log_metric: Callable[[str, float], None] | None,
    ) -> list[float | None]:
        if log_extra is not None:
            for column, values in batch_extras(self.name, scored.verdicts).items():
                log_extra(column, values)
        if log_metric is not None:
            for key, value in scored.metrics.items():
                log_metric(key, value)
        return [verdict.reward for verdict in scored.verdicts]

    # ------------------------------------------------------------------ scoring

    async def _score(self, completions: Sequence[object] | None, columns: Mapping[str, object]) -> Scored:
        jobs = self._jobs(completions, columns)
        start, number = perf_counter(), next(self._batches)
        self._observers.batch_started(pipeline=self.name, batch=number, size=len(jobs))
        tell = functools.partial(self._observe, number)
        batch = Batch(self._scoring, self._session.executor(), self._session.limiter(), tell)
        verdicts = await batch.run(jobs, self.max_concurrency, self.batch_seconds)
        metrics = batch_metrics(self.name, verdicts)
        self._observers.batch_finished(
            pipeline=self.name,
            batch=number,
            verdicts=verdicts,
            metrics=metrics,
            seconds=perf_counter() - start,
        )
        return Scored(verdicts, metrics)

    def _observe(self, batch: int, index: int, verdict: Verdict) -> None:
        self._observers.completion_scored(pipeline=self.name, batch=batch, index=index, verdict=verdict)

    def _jobs(self, completions: Sequence[object] | None, columns: Mapping[str, object]) -> list[Job]:
        """All rows are split before anything runs, so that a bad one costs nothing."""
        if completions is None:
            msg = "a pipeline is called with completions=[...] and the data set's columns, one value for each"
            raise ConfigError(msg)
        texts = [text_of(completion, index) for index, completion in enumerate(completions)]
        splitter = Splitter(self.harnesses)
        rows = self._rows.rows(columns, len(texts))
        return [Job(index, text, *splitter.split(rows[index], index)) for index, text in enumerate(texts)]

    # ------------------------------------------------------------------ lifecycle

    def _open(self) -> None:
        self._session = Session(self.executor, self.max_concurrency)
        self._door = Door(self._session.aclose)
        self._door.close_at_exit(self)
        self._observers = Observers(self._registry or default_registry())
        self._batches = itertools.count()

    def close(self) -> None:
        """Destroy every sandbox and free everything. Idempotent; the next call starts anew."""
        self._door.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the configuration; what is live stays behind."""
        live = ("_session", "_door", "_observers", "_batches")
        return {key: value for key, value in self.__dict__.items() if key not in live}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()

    def __getattr__(self, attribute: str) -> Any:
        """Find the asynchronous form under the pipeline's name: it pickles by that name."""
        if attribute == self.__dict__.get("name"):
            return self.async_reward
        msg = f"{type(self).__name__!r} object has no attribute {attribute!r}"
        raise AttributeError(msg)

    def __repr__(self) -> str:
        languages = "+".join(harness.language for harness in self.harnesses)
        return f"RewardPipeline({self.name!r}: {languages} by {type(self.executor).__name__})"


class Scored(NamedTuple):
    """A batch that was scored."""

    verdicts: list[Verdict]
    metrics: Mapping[str, float]


class Session:
    """What a pipeline holds while it runs: its executor, and the bound on how much runs at once.

    Args:
        executor: As configured, unused.
        max_concurrency: Programs at once.
    """

    def __init__(self, executor: Executor, max_concurrency: int) -> None:
        self._pid = os.getpid()
        self._executor = executor if isinstance(executor, Attributing) else Attributing(executor)
        self._max_concurrency = max_concurrency
        self._limiter: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    def executor(self) -> Executor:
        """The executor of this process; a fork leaves the parent's connections alone."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._executor = copy.copy(self._executor)
        return self._executor

    def limiter(self) -> asyncio.Semaphore:
        """The bound for the running loop."""
        loop = asyncio.get_running_loop()
        if self._limiter is None or self._limiter[0] is not loop:
            self._limiter = (loop, asyncio.Semaphore(self._max_concurrency))
        return self._limiter[1]

    async def aclose(self) -> None:
        """Close the executor."""
        await self.executor().aclose()


class Splitter:
    """Splits rows; the completions of a group share a row, which is split once.

    Args:
        harnesses: One for each language; with several, the row's column `language` chooses.
    """

    def __init__(self, harnesses: Sequence[Harness]) -> None:
        self._harnesses = harnesses
        self._last: tuple[Row, tuple[Harness, Questions, Answers]] | None = None

    def split(self, row: Row, index: int) -> tuple[Harness, Questions, Answers]:
        """The row's harness, questions and answers.

        Raises:
            DatasetError: The row cannot be scored.
        """
        if self._last is not None and identical(self._last[0], row):
            return self._last[1]
        try:
            harness = self._harness(row)
            parts = (harness, *harness.split(row))
        except DatasetError as error:
            raise DatasetError(error.message, index) from None
        self._last = (row, parts)
        return parts

    def _harness(self, row: Row) -> Harness:
        if len(self._harnesses) == 1:
            return self._harnesses[0]
        language = str(row.get("language")).lower()
        for harness in self._harnesses:
            if language == harness.language or language in harness.tags:
                return harness
        known = ", ".join(harness.language for harness in self._harnesses)
        msg = f"no harness for the language {row.get('language')!r}; the pipeline has: {known}"
        raise DatasetError(msg)


# ---------------------------------------------------------------------- arguments


def refuse_unknown(unknown: Mapping[str, object]) -> None:
    """Refuse arguments that the constructor does not have.

    Raises:
        ConfigError: There are some; a trainer's call of the class itself is told apart.
    """
    if not unknown:
        return
    if "completions" in unknown:
        msg = (
            "the class RewardPipeline was called with completions: a trainer needs an instance. "
            "Write reward_funcs=RewardPipeline(...), or name `codereward.trl.reward` on the command line"
        )
        raise ConfigError(msg)
    msg = f"RewardPipeline has no argument {', '.join(map(repr, unknown))}; see help(RewardPipeline)"
    raise ConfigError(msg)


def checked_name(name: str) -> str:
    """The name, when it can be a metric's prefix and a method's name.

    Raises:
        ConfigError: It cannot.
    """
    if not str(name).isidentifier() or hasattr(RewardPipeline, name):
        msg = f"name={name!r} has to be an identifier, as 'code_reward', and no method of RewardPipeline"
        raise ConfigError(msg)
    return name


def component_of(registry: Registry, kind: Kind, given: object) -> Any:
    """The component that a name, a mapping or an instance stands for."""
    if isinstance(given, str):
        return registry.create(kind, given)
    if isinstance(given, Mapping):
        options = dict(given)
        name = options.pop("name", None)
        if not isinstance(name, str):
            msg = f"{kind}={given!r} needs a 'name': one of {', '.join(registry.names(kind))}"
            raise ConfigError(msg)
        return registry.create(kind, name, options)
    check_component(kind, given, f"{kind}={given!r}")
    return given


def as_scorer(given: object) -> object:
    """A plain function becomes a scorer."""
    return FunctionScorer(given) if isinstance(given, types.FunctionType) else given


def outcome_of(name: str) -> Outcome:
    """The outcome of a name.

    Raises:
        ConfigError: There is none.
    """
    if name in set(Outcome) - {Outcome.UNAVAILABLE}:
        return Outcome(name)
    known = ", ".join(one for one in Outcome if one is not Outcome.UNAVAILABLE)
    msg = f"outcome_rewards names {name!r}; the outcomes that can have a reward are {known}"
    raise ConfigError(msg)


def at_least_one(name: str, number: Any) -> Any:
    """The number, when it is one of at least 1.

    Raises:
        ConfigError: It is not.
    """
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not number >= 1:
        msg = f"{name}={number!r} has to be a number of at least 1"
        raise ConfigError(msg)
    return number


@functools.cache
def renamed(function: types.FunctionType, name: str) -> types.FunctionType:
    """A copy of a function under another name."""
    copied = types.FunctionType(
        function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
    )
    copied.__kwdefaults__ = function.__kwdefaults__
    copied.__doc__ = function.__doc__
    return copied
