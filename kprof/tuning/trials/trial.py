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
    """The trials of one search, and their ranking.

    Attributes:
        start: the starting configuration.
        best: trials with a shorter predicted time than the start, fastest first; within 1 % of the fastest, the trial
            with the fewest changes comes first. Without predictions: trials that no other one dominates and that rank
            above the start by their resources, best first.
        tried: number of compiled configurations.
        ranked_by: the sort criterion: predicted times, cycles per element of an axis of unknown extent, or resources.
        why: why there are no predicted times, and which values would be needed; empty if there are times.
        dominated: without predictions: trials that rank above the start without spill traffic, although another trial
            is at least as good in every respect, best first.
        failed: number of failed configurations by reason.
        left: number of untried configurations, because the budget was spent or the latest ones brought no improvement.
        settled: whether the search ended by itself, with unpromising changes left.
        seconds: wall time.
        all: every configuration that compiled and can be launched, best first.
        condition: condition for predicted times, see :mod:`kprof.condition`.
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
        """Predicted cost of the start divided by that of the best trial; ``None`` if either is unknown."""
        if not self.best or self.start.cost is None or not self.best[0].cost:
            return None
        return self.start.cost / self.best[0].cost

    @property
    def told_apart(self) -> bool:
        """Whether the model can distinguish the best trial from the start."""
        found = self.beside_start(self.best[0]) if self.best else None
        return found is not None and found.told_apart and found.speedup > 1

    def beside_start(self, trial: Evaluation) -> "PredictedGain | None":
        """Return the predicted gain of a trial over the start; ``None`` if a cost is unknown."""
        from kprof_analyzers.model.certainty import cycles_gain, predicted_gain

        report = self.start.report
        if self.ranked_by == "cycles":
            # Certainties come from published pairs of times, so they do not apply to cycles.
            return cycles_gain(trial.cost, self.start.cost)
        return predicted_gain(trial.cost, self.start.cost, "" if report is None else report.arch)

    @property
    def to_measure(self) -> tuple[Evaluation, ...]:
        """The best trial, and the trials (or start) that the model cannot distinguish from it.

        Empty if there is nothing to measure on the GPU: one trial stands out, or there are no predicted times.
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
