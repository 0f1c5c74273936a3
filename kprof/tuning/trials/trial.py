"""One configuration that was tried, and what a round of trials found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kprof.document import KernelReport
from kprof.tuning.trials.measure import Measure


@dataclass(frozen=True)
class Trial:
    """One configuration that was compiled, or could not be.

    Attributes:
        change: the knobs that differ from the starting point, with their new values.
        config: all knobs and environment switches.
        report: what kprof says of it; ``None`` when it did not compile, or has not been looked at that closely.
        measure: its figures; ``None`` likewise.
        error: why it did not compile.
        time_us: predicted time of all that a call launches, in microseconds; ``None`` where the model has no answer.
        low_us, high_us: the range of that time.
        parts: launches beside the kernel itself, with their times in microseconds; they are part of ``time_us``.
    """

    change: Mapping[str, Any]
    config: Mapping[str, Any]
    report: KernelReport | None = None
    measure: Measure | None = None
    error: str | None = None
    time_us: float | None = None
    low_us: float | None = None
    high_us: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Trials:
    """The result of a round of trials.

    Attributes:
        start: the configuration as it was.
        best: trials that are predicted to be faster than the start, fastest first; of those within 1 % of the fastest
            the one with the fewest changes comes first. Without predictions: trials that no other one dominates and
            that rank above the start by their resources, best first.
        tried: how many configurations were compiled.
        ranked_by: what the order rests on.
        why: why there are no predicted times; empty where there are.
        dominated: without predictions: trials that rank above the start without spill traffic, though another one is
            at least as good in every respect, best first.
        failed: reasons why configurations are no good, with how many there were of each.
        left: how many were left out, because the budget was spent or the last ones had brought nothing.
        settled: whether the search ended by itself, with changes left that promised nothing.
        seconds: wall time.
        all: every configuration that compiled and can be launched, best first.
    """

    start: Trial
    best: tuple[Trial, ...]
    tried: int
    ranked_by: Literal["time", "resources"] = "resources"
    why: str = ""
    dominated: tuple[Trial, ...] = ()
    failed: Mapping[str, int] = field(default_factory=dict)
    left: int = 0
    settled: bool = False
    seconds: float = 0.0
    all: tuple[Trial, ...] = field(default=(), repr=False)

    @property
    def gain(self) -> float | None:
        """Predicted time of the start over that of the best trial; ``None`` without either."""
        if not self.best or self.start.time_us is None or self.best[0].time_us is None:
            return None
        return self.start.time_us / self.best[0].time_us

    @property
    def told_apart(self) -> bool:
        """Whether the model can tell the best trial from the start (:data:`kprof.tuning.candidates.TIE`)."""
        from kprof.tuning.candidates import TIE

        return self.gain is not None and self.gain > 1 + TIE
