"""The result of a search around a starting point."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from kprof.condition import WARM
from kprof.tuning.evaluation import Evaluation

if TYPE_CHECKING:
    from kprof_analyzers.model.certainty import PredictedGain


@dataclass(frozen=True)
class Trials:
    """The result of a round of trials.

    Attributes:
        start: the configuration as it was.
        best: trials that are predicted to be faster than the start, fastest first; of those within 1 % of the fastest
            the one with the fewest changes comes first. Without predictions: trials that no other one dominates and
            that rank above the start by their resources, best first.
        tried: how many configurations were compiled.
        ranked_by: what the order rests on: predicted times, cycles for each element of an axis whose extent is not
            known, or resources.
        why: why there are no predicted times, and what would have to be known; empty where there are.
        dominated: without predictions: trials that rank above the start without spill traffic, though another one is
            at least as good in every respect, best first.
        failed: reasons why configurations are no good, with how many there were of each.
        left: how many were left out, because the budget was spent or the last ones had brought nothing.
        settled: whether the search ended by itself, with changes left that promised nothing.
        seconds: wall time.
        all: every configuration that compiled and can be launched, best first.
        condition: that predicted times are of, see :mod:`kprof.condition`.
    """

    start: Evaluation
    best: tuple[Evaluation, ...]
    tried: int
    ranked_by: Literal["time", "cycles", "resources"] = "resources"
    why: str = ""
    dominated: tuple[Evaluation, ...] = ()
    failed: Mapping[str, int] = field(default_factory=dict)
    left: int = 0
    settled: bool = False
    seconds: float = 0.0
    all: tuple[Evaluation, ...] = field(default=(), repr=False)
    condition: str = WARM.name

    @property
    def gain(self) -> float | None:
        """Predicted cost of the start over that of the best trial; ``None`` without either."""
        if not self.best or self.start.cost is None or not self.best[0].cost:
            return None
        return self.start.cost / self.best[0].cost

    @property
    def told_apart(self) -> bool:
        """Whether the model can tell the best trial from the start."""
        found = self.beside_start(self.best[0]) if self.best else None
        return found is not None and found.told_apart and found.speedup > 1

    def beside_start(self, trial: Evaluation) -> "PredictedGain | None":
        """A trial's predicted cost and the start's; ``None`` where one is not known."""
        from kprof_analyzers.model.certainty import cycles_gain, predicted_gain

        report = self.start.report
        if self.ranked_by == "cycles":
            # Published pairs are of times.
            return cycles_gain(trial.cost, self.start.cost)
        return predicted_gain(trial.cost, self.start.cost, "" if report is None else report.arch)

    @property
    def to_measure(self) -> tuple[Evaluation, ...]:
        """The best trial and those of the best that the model cannot tell from it; with the start where it is one.

        Empty where nothing is left to ask the GPU: one trial stands out, or there are no predicted times.
        """
        from kprof_analyzers.model.certainty import predicted_gain

        if self.gain is None:
            return ()
        arch = "" if self.start.report is None else self.start.report.arch
        first, *others = [*self.best, self.start]
        near = [
            one
            for one in others
            if (found := predicted_gain(first.cost, one.cost, arch)) is not None and not found.told_apart
        ]
        return (first, *near) if near else ()
