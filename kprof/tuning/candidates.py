"""Candidate configurations: the compile results that they wait for, and their scores once every result is known."""

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
    """A configuration for a problem, with the compile tasks of its launches.

    Attributes:
        index: index of the problem.
        problem: the problem.
        config: value of every knob.
        names: names of the launches, the kernel first.
        keys: keys of the tasks, in the order of ``names``.
        missing: keys of tasks without a result yet.
        own: True if this is the kernel's own configuration, which serves as the baseline and is not counted.
        compiled: True if this configuration is the first in this run to need one of its compiles.
        resumed: True if all its results were known before this run.
        cached: True if every result that it waited for came from kprof's cache.
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
        """Return the evaluation of all launches together, or the first result that rules the configuration out."""
        own = [answers[key] for key in self.keys]
        bad = next((answer for answer in own if answer.status != "ok" or answer.cost is None), None)
        if bad is not None:
            return bad
        if any(answer.time_us is None for answer in own):
            return self._by_element(own)
        main = own[0]
        longest = max(own, key=lambda answer: answer.time_us or 0.0)
        others = zip(self.names[1:], own[1:], strict=True)
        # The events of a benchmark enclose all launches together, so their time counts once.
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
        """Sum cycles per element. Launches with a known time do not depend on the unknown extent and are left out."""
        untimed = [answer for answer in own if answer.time_us is None]
        axes = sorted({answer.axis for answer in untimed})
        if len(axes) > 1:
            return without_comparison(untimed[0], f"more than one size is unknown: {', '.join(axes)}")
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
    """Return each cause's share of the total time, weighted by the time of each launch."""
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
    """Return a copy of a result that is marked as failed, because it cannot be compared with other results."""
    import msgspec

    return msgspec.structs.replace(answer, status="failed", reason=reason)


def failure_reason(answer: TaskResult) -> str:
    """Return the reason for rejecting a configuration, normalized so that equal failures are counted together."""
    reason = answer.reason or answer.status
    if answer.status == "unlaunchable":
        return "out of LDS" if "LDS" in reason else "workgroup too large"
    if answer.status == "timeout":
        return "compile took too long"
    if answer.status in {"crashed", "killed"}:
        return _WHILE.sub("", reason) if answer.status == "crashed" else "killed, possibly because memory ran out"
    return _FIGURES.sub("…", reason.splitlines()[0])[:90]


def merged(found: Sequence[Evaluation]) -> list[Evaluation]:
    """Merge configurations with the same program and launch into one entry each, fastest first.

    The entry keeps the configuration that sorts first by its text; the others are listed in its ``alike``. Equal times
    are ordered by the same text, because the order in which compiles end depends on the number of workers.
    """
    from dataclasses import replace

    groups: dict[tuple[Any, ...], list[Evaluation]] = {}
    for one in sorted(found, key=lambda one: (one.cost, identity(one.config))):
        groups.setdefault((one.codes, one.cost), []).append(one)
    # The groups are in the order of their first entries: by time, then by text.
    return [
        replace(group[0], alike=tuple(other.config for other in group[1:])) if len(group) > 1 else group[0]
        for group in groups.values()
    ]


TIE = 0.03
"""Relative difference below which measured times are equal; repeated measurements vary by this much."""

WIDE = 16.0
"""Ratio of a predicted time's upper to its lower bound above which the model had to guess.

Such guesses err differently for each configuration.
"""


def tied(ranked: Sequence[Evaluation]) -> int:
    """Return the number of leading entries that cannot be distinguished from the first, including the first."""
    return next((i for i, one in enumerate(ranked) if not is_tie(ranked[0], one)), len(ranked))


def guessed(best: Evaluation) -> bool:
    """Whether the model had to guess, judged by the width of the predicted range."""
    return best.low_us is not None and best.high_us is not None and best.high_us > WIDE * best.low_us


def is_tie(best: Evaluation, other: Evaluation) -> bool:
    """Whether another configuration may be as fast as the best one, by measured times if both have been measured.

    Predicted times count as different from :func:`kprof_analyzers.model.certainty.least_difference` upwards. A
    prediction error mostly affects all predictions of a kernel alike, so overlapping bounds do not mean that the order
    is uncertain. The bounds decide only if the model had to guess, see :func:`guessed`.
    """
    from kprof_analyzers.model.certainty import least_difference

    if best.measured_ms is not None and other.measured_ms is not None:
        return other.measured_ms <= best.measured_ms * (1 + TIE)
    if best.given and other.given:
        return other.rank <= best.rank * (1 + TIE)
    if other.low_us is not None and guessed(best):
        return (other.low_us or 0.0) <= best.rank
    return other.rank < best.rank * (1 + least_difference())
