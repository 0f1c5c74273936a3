"""Configurations in the making: what a configuration still waits for, and what it is when all of it is there."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kprof.tuning.evaluation import Evaluation
from kprof.tuning.order import identity
from kprof.tuning.problems import Problem
from kprof.tuning.work import TaskResult

_WHILE = re.compile(r" while making .*")
_FIGURES = re.compile(r"\b\d[\d,.]*\b")


@dataclass(eq=False)
class Candidate:
    """A configuration for a problem, and the tasks that it consists of.

    Attributes:
        index: position of the problem.
        problem: the problem.
        config: every knob.
        names: names of what is launched, the kernel first.
        keys: the tasks' keys, in the same order.
        missing: keys without an answer yet.
        own: the kernel's own configuration, compared with and not counted.
        compiled: whether it is the first configuration to need one of its compiles in this run.
        resumed: whether all of its answers were known before this run.
        cached: whether all answers that it waited for came from kprof's cache.
    """

    index: int
    problem: Problem
    config: Mapping[str, Any]
    names: tuple[str, ...]
    keys: tuple[str, ...]
    missing: set[str] = field(default_factory=set)
    own: bool = False
    compiled: bool = False
    resumed: bool = False
    cached: bool = True

    def score(self, answers: Mapping[str, TaskResult]) -> Evaluation | TaskResult:
        """The whole of its answers, or the first one that says it cannot be."""
        own = [answers[key] for key in self.keys]
        bad = next((answer for answer in own if answer.status != "ok" or answer.cost is None), None)
        if bad is not None:
            return bad
        if any(answer.time_us is None for answer in own):
            return self._by_element(own)
        main = own[0]
        longest = max(own, key=lambda answer: answer.time_us or 0.0)
        others = zip(self.names[1:], own[1:], strict=True)
        # Events stand around all launches together.
        once = sum(answer.events_us for answer in own) - longest.events_us
        return Evaluation(
            config=self.config,
            time_us=sum(answer.time_us or 0.0 for answer in own) - once,
            low_us=sum(_bounds(answer)[0] for answer in own) - once,
            high_us=sum(_bounds(answer)[1] for answer in own) - once,
            bound=longest.bound if longest is main else f"{longest.bound} ({self.names[own.index(longest)]})",
            resources=main.resources,
            codes=tuple(answer.isa for answer in own),
            parts={name: answer.time_us or 0.0 for name, answer in others},
            shares=_shares(own),
            assumptions=tuple(dict.fromkeys(said for answer in own for said in answer.assumptions)),
        )

    def _by_element(self, own: Sequence[TaskResult]) -> "Evaluation | TaskResult":
        """Launches whose time is known do the same whatever the extent is: they are left out."""
        untimed = [answer for answer in own if answer.time_us is None]
        axes = sorted({answer.axis for answer in untimed})
        if len(axes) > 1:
            return without_comparison(untimed[0], f"more than one extent is not known: {', '.join(axes)}")
        said = [said for answer in own for said in answer.assumptions]
        if len(untimed) < len(own):
            said.append(f"launches that do not depend on {axes[0]} are left out")
        longest = max(untimed, key=lambda answer: answer.cycles_per_element or 0.0)
        return Evaluation(
            config=self.config,
            time_us=None,
            low_us=None,
            high_us=None,
            bound=longest.bound,
            resources=own[0].resources,
            codes=tuple(answer.isa for answer in own),
            assumptions=tuple(dict.fromkeys(said)),
            cycles_per_element=sum(answer.cycles_per_element or 0.0 for answer in untimed),
            axis=axes[0],
        )


def _shares(answers: Sequence[TaskResult]) -> dict[str, float]:
    """Of all launches together, each by its time."""
    whole = sum(answer.time_us or 0.0 for answer in answers) or 1.0
    found: dict[str, float] = {}
    for answer in answers:
        for cause, share in answer.shares.items():
            found[cause] = found.get(cause, 0.0) + share * (answer.time_us or 0.0) / whole
    return found


def _bounds(answer: TaskResult) -> tuple[float, float]:
    time = answer.time_us or 0.0
    low = time if answer.low_us is None else answer.low_us
    high = time if answer.high_us is None else answer.high_us
    return low, high


def without_comparison(answer: TaskResult, reason: str) -> TaskResult:
    """The same as one that cannot be compared."""
    import msgspec

    return msgspec.structs.replace(answer, status="failed", reason=reason)


def failure_reason(answer: TaskResult) -> str:
    """Why a configuration is rejected, in the words under which like ones are counted."""
    reason = answer.reason or answer.status
    if answer.status == "unlaunchable":
        return "out of LDS" if "LDS" in reason else "workgroup too large"
    if answer.status == "timeout":
        return "compile took too long"
    if answer.status in {"crashed", "killed"}:
        return _WHILE.sub("", reason) if answer.status == "crashed" else "killed: out of memory?"
    return _FIGURES.sub("…", reason.splitlines()[0])[:90]


def merged(found: Sequence[Evaluation]) -> list[Evaluation]:
    """One entry for each program, fastest first; the others that lead to it are its ``alike``.

    Of those that lead to the same program and launch, the first one by its text is kept, and equal times are in the
    order of that text: which compile ended first depends on how many there are at a time.
    """
    from dataclasses import replace

    groups: dict[tuple[Any, ...], list[Evaluation]] = {}
    for one in sorted(found, key=lambda one: (one.cost, identity(one.config))):
        groups.setdefault((one.codes, one.cost), []).append(one)
    # In their first one's order, which is that of time and text.
    return [
        replace(group[0], alike=tuple(other.config for other in group[1:])) if len(group) > 1 else group[0]
        for group in groups.values()
    ]


TIE = 0.03
"""Measured times closer than this share are the same: repeated measurements differ by as much."""

WIDE = 16.0
"""Bounds further apart than this factor say that the model had to guess, for each configuration by itself."""


def tied(ranked: Sequence[Evaluation]) -> int:
    """How many of a ranking's first cannot be distinguished from the first, itself included."""
    return next((i for i, one in enumerate(ranked) if not is_tie(ranked[0], one)), len(ranked))


def guessed(best: Evaluation) -> bool:
    """Whether the model had to guess: its range says so."""
    return best.low_us is not None and best.high_us is not None and best.high_us > WIDE * best.low_us


def is_tie(best: Evaluation, other: Evaluation) -> bool:
    """Whether another configuration may be as fast as the best one; by their measured times where both have one.

    Predicted times differ from :func:`kprof_analyzers.model.certainty.least_difference` on: what is wrong with a
    prediction is mostly wrong with all of a kernel's predictions alike, so that their ranges say nothing of the order.
    Only where the model had to guess do the bounds decide.
    """
    from kprof_analyzers.model.certainty import least_difference

    if best.measured_ms is not None and other.measured_ms is not None:
        return other.measured_ms <= best.measured_ms * (1 + TIE)
    if best.given and other.given:
        return other.rank <= best.rank * (1 + TIE)
    if other.low_us is not None and guessed(best):
        return (other.low_us or 0.0) <= best.rank
    return other.rank < best.rank * (1 + least_difference())
