"""Scoring one batch: every completion goes from text to verdict, and keeps its place."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Final

from codereward.errors import BackendUnavailable, PluginError
from codereward.harnesses.failures import decoded
from codereward.model import (
    MISSING,
    Answers,
    Blame,
    CommandResult,
    Extraction,
    Observation,
    Outcome,
    Questions,
    Run,
    Status,
    Timings,
    Verdict,
    Wanted,
)
from codereward.protocols import Executor, Extractor, Harness, Scorer
from codereward.values import identical

__all__ = ["Batch", "Job", "Scoring"]

logger = logging.getLogger("codereward")

TURN: Final = 32
"""Completions after which a worker lets the event loop look at other work."""
CANCEL_SECONDS: Final = 30.0
"""How long a cancelled batch waits for its executor to clean up."""
TAIL_BYTES: Final = 2_000
"""How much of a program's output a verdict keeps."""
KEPT_BYTES: Final = 64_000
"""A verdict keeps the observed values when the program reported no more than this."""


@dataclass(frozen=True, slots=True)
class Job:
    """One completion and what its row asks and answers."""

    index: int
    text: str
    harness: Harness
    questions: Questions
    answers: Answers


@dataclass(frozen=True, slots=True)
class Scoring:
    """How a pipeline turns completions into verdicts, apart from running them."""

    extractor: Extractor
    scorer: Scorer
    outcome_rewards: Mapping[Outcome, float]
    dedupe: bool


@dataclass(slots=True)
class _Shared:
    """A program that runs, or ran, in this batch, and who shares its verdict."""

    answers: Answers
    verdict: Verdict | None = None
    waiting: list[tuple[int, Extraction]] = field(default_factory=list)


class Batch:
    """One batch on its way.

    Args:
        scoring: The components and settings.
        executor: Runs the programs.
        limiter: Bounds the programs that run at once, over all batches of a pipeline.
        scored: Called with (index, verdict) as soon as a verdict is known.
    """

    def __init__(
        self,
        scoring: Scoring,
        executor: Executor,
        limiter: asyncio.Semaphore,
        scored: Callable[[int, Verdict], None],
    ) -> None:
        self._scoring = scoring
        self._executor = executor
        self._limiter = limiter
        self._scored = scored
        self._verdicts: dict[int, Verdict] = {}
        self._shared: dict[Hashable, _Shared] = {}

    async def run(self, jobs: Sequence[Job], workers: int, seconds: float) -> list[Verdict]:
        """Score all jobs.

        Args:
            jobs: The batch.
            workers: How many completions are on their way at once.
            seconds: After this time, what is undecided is `unavailable`.

        Raises:
            BackendMisconfigured: The executor cannot work as configured.
            PluginError: An extractor, harness or scorer broke its contract.
        """
        pending = iter(jobs)
        tasks = [asyncio.ensure_future(self._work(pending)) for _ in range(min(workers, len(jobs)))]
        try:
            await first_failure(tasks, seconds)
        finally:
            await cancel(tasks)
        for job in jobs:
            if job.index not in self._verdicts:
                self._settle(job.index, unavailable(f"the batch ran out of its {seconds:g} s"))
        return [self._verdicts[job.index] for job in jobs]

    async def _work(self, jobs: Iterator[Job]) -> None:
        for turn, job in enumerate(jobs, 1):
            await self._one(job)
            if turn % TURN == 0:
                await asyncio.sleep(0)

    async def _one(self, job: Job) -> None:
        start = perf_counter()
        extraction = self._extract(job)
        if extraction.code is None:
            self._settle(job.index, self._no_code(extraction, perf_counter() - start))
            return
        shared = self._claim(job, extraction)
        if shared is None:
            return
        shared.verdict = verdict = await self._execute(job, extraction, start)
        self._settle(job.index, verdict)
        for index, theirs in shared.waiting:
            self._settle(index, replace(verdict, extraction=theirs, deduped=True))

    def _extract(self, job: Job) -> Extraction:
        wanted = wanted_by(job.harness, job.questions.entry_point)
        extraction: Extraction = guarded(
            "extractor", self._scoring.extractor, "extract", job.index, job.text, wanted
        )
        return extraction

    def _claim(self, job: Job, extraction: Extraction) -> _Shared | None:
        """The place for this program's verdict, or `None` when an identical one provides it."""
        if not self._scoring.dedupe:
            return _Shared(job.answers)
        key = (job.harness.language, extraction.code, job.questions)
        shared = self._shared.setdefault(key, fresh := _Shared(job.answers))
        if shared is fresh:
            return shared
        if not same_answers(shared.answers, job.answers):
            return fresh
        if shared.verdict is None:
            shared.waiting.append((job.index, extraction))
        else:
            self._settle(job.index, replace(shared.verdict, extraction=extraction, deduped=True))
        return None

    async def _execute(self, job: Job, extraction: Extraction, start: float) -> Verdict:
        program = guarded("harness", job.harness, "build", job.index, extraction.code, job.questions)
        built = perf_counter()
        try:
            async with self._limiter:
                run = await self._executor.run(program)
        except BackendUnavailable as error:
            return unavailable(str(error), extraction)
        ran = perf_counter()
        observation: Observation = guarded("harness", job.harness, "read", job.index, run, job.questions)
        score = self._score(job, observation)
        timings = Timings(built - start, ran - built, perf_counter() - ran)
        return self._verdict(extraction, observation, score, run, timings)

    def _score(self, job: Job, observation: Observation) -> float:
        if observation.outcome is not Outcome.SCORED:
            return 0.0
        score: float = guarded("scorer", self._scoring.scorer, "score", job.index, observation, job.answers)
        return checked_score(score, self._scoring.scorer)

    def _verdict(
        self,
        extraction: Extraction,
        observation: Observation,
        score: float,
        run: Run,
        timings: Timings,
    ) -> Verdict:
        kept = sum(len(command.result) for command in run.commands) <= KEPT_BYTES
        shown = shown_command(run)
        return Verdict(
            reward=self._reward(observation.outcome, score),
            score=score,
            outcome=observation.outcome,
            blame=Blame.NOBODY if observation.outcome is Outcome.SCORED else Blame.PROGRAM,
            reason=observation.reason,
            extraction=extraction,
            cases=observation.cases
            if kept
            else tuple(replace(one, value=MISSING) for one in observation.cases),
            observed=observation.value if kept else MISSING,
            stdout=decoded(shown.stdout[-TAIL_BYTES:]) if shown else "",
            stderr=decoded(shown.stderr[-TAIL_BYTES:]) if shown else "",
            timings=timings,
            trust="unsafe" if run.unsafe else observation.trust,
        )

    def _no_code(self, extraction: Extraction, seconds: float) -> Verdict:
        return Verdict(
            reward=self._reward(Outcome.NO_CODE, 0.0),
            score=0.0,
            outcome=Outcome.NO_CODE,
            blame=Blame.PROGRAM,
            reason=extraction.how,
            extraction=extraction,
            timings=Timings(prepare_seconds=seconds),
        )

    def _reward(self, outcome: Outcome, score: float) -> float:
        return self._scoring.outcome_rewards.get(outcome, score)

    def _settle(self, index: int, verdict: Verdict) -> None:
        self._verdicts[index] = verdict
        self._scored(index, verdict)


NO_EXTRACTION: Final = Extraction(code=None, how="the batch ended before the completion was looked at")


def unavailable(reason: str, extraction: Extraction = NO_EXTRACTION) -> Verdict:
    """The verdict on a completion that the backend could not run."""
    return Verdict(
        reward=None,
        score=None,
        outcome=Outcome.UNAVAILABLE,
        blame=Blame.BACKEND,
        reason=reason,
        extraction=extraction,
    )


def wanted_by(harness: Harness, entry_point: str | None) -> Wanted:
    """What a harness wants an extractor to find."""
    return Wanted(harness.language, harness.tags, entry_point, harness.parses, harness.defines)


def same_answers(one: Answers, other: Answers) -> bool:
    """Whether two rows certainly expect the same."""
    return one is other or (one.comparators == other.comparators and identical(one.value, other.value))


def shown_command(run: Run) -> CommandResult | None:
    """The command whose output a person wants to see: the first that failed, else the last."""
    commands = run.commands if run.build is None else (run.build, *run.commands)
    failed = (one for one in commands if one.status is not Status.EXITED or one.exit_code != 0)
    return next(failed, commands[-1] if commands else None)


def guarded(kind: str, component: object, method: str, index: int, *arguments: object) -> Any:
    """Call a component; what escapes from it is its author's fault, and said so.

    Raises:
        PluginError: The call raised.
    """
    try:
        return getattr(component, method)(*arguments)
    except Exception as error:
        cls = type(component)
        msg = (
            f"{kind} {cls.__module__}.{cls.__qualname__} raised {type(error).__name__}: {error}, "
            f"in `{method}` for completion {index} of the batch; its contract allows no exception there"
        )
        raise PluginError(msg) from error


def checked_score(score: object, scorer: Scorer) -> float:
    """The score as a float.

    Raises:
        PluginError: It is no finite number in [0, 1].
    """
    try:
        number = float(score)  # type: ignore[arg-type]  # the point is to find out
    except (TypeError, ValueError):
        number = math.nan
    if not 0.0 <= number <= 1.0:
        msg = f"scorer {type(scorer).__name__} gave {score!r:.60}: a score is a number from 0 to 1"
        raise PluginError(msg)
    return number


async def first_failure(tasks: Sequence[asyncio.Task[None]], seconds: float) -> None:
    """Wait until all tasks are done or time is up, and raise what the first failed one raised."""
    if not tasks:
        return
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        task.result()


async def cancel(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait, within bounds, until they have cleaned up."""
    for task in tasks:
        task.cancel()
    if tasks:
        _, stuck = await asyncio.wait(tasks, timeout=CANCEL_SECONDS)
        if stuck:
            logger.warning("%d runs did not end %g s after they were cancelled", len(stuck), CANCEL_SECONDS)
