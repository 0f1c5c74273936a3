"""Progress and result of a search."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from kprof.tuning.evaluation import Evaluation
from kprof.tuning.space import Space


@dataclass
class Progress:
    """The progress of a search.

    Attributes:
        compiled: configurations compiled in this run; all launches of ``cached`` of them came from kprof's cache.
        resumed: configurations known from an earlier run.
        derived: configurations that differ from compiled ones only in knobs that did not change this kernel's time.
        shared: configurations that share all their compiles with configurations chosen before.
        refused: configurations that the kernel itself rejects, so there is nothing to compile.
        compiles: compiles in this run, including those of the kernel's own configuration and of further launches.
        total: number of legal configurations of all problems.
        failed: configurations without a valid result.
        seconds: seconds since the start.
        budget: maximum seconds, ``None``: no limit.
        best: name of the last problem with an improvement, and its best time in microseconds.
        axis: the size that an unknown loop bound depends on, if there are no times; ``best`` is then in cycles per
            element of it.
        problems: number of problems.
        tiles: different tiles (blocks and wavefronts) among the legal configurations; ``tiles_seen`` of them were
            explored.
    """

    compiled: int = 0
    cached: int = 0
    resumed: int = 0
    derived: int = 0
    shared: int = 0
    refused: int = 0
    compiles: int = 0
    total: int = 0
    failed: int = 0
    seconds: float = 0.0
    budget: float | None = None
    best: tuple[str, float] | None = None
    problems: int = 1
    tiles: int = 0
    tiles_seen: int = 0
    axis: str = ""

    @property
    def uncompiled(self) -> int:
        """Number of configurations whose result needed no compile in this run."""
        return self.resumed + self.derived + self.shared + self.refused

    @property
    def done(self) -> int:
        """Number of explored configurations: those compiled and those whose result needed no compile."""
        return self.compiled + self.uncompiled

    @property
    def rate(self) -> float:
        """Compiles per second."""
        return self.compiles / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Estimated seconds until the search ends, or None if unknown."""
        fresh = self.done - self.resumed
        rest = (self.total - self.done) * self.seconds / fresh if fresh else None
        budget = None if self.budget is None else max(0.0, self.budget - self.seconds)
        return min((value for value in (rest, budget) if value is not None), default=None)


@dataclass
class SearchResult:
    """The result of a search.

    Attributes:
        space: the search space.
        ranked: for each problem, the evaluations, fastest first, one entry per program.
        own: for each problem, the kernel's own configuration; ``None`` if it has none or it has no valid result.
        pruned: combinations left out before compiling, by reason, over all problems.
        failed: configurations without a valid result, by reason.
        inert: knobs that did not change this kernel's time, see :mod:`kprof.tuning.inert`.
        duplicates: configurations whose program is that of another one.
        progress: final progress over all problems; ``total`` and ``seconds`` are those of the whole run.
        compile_seconds: sum of this run's compile times, without those served from the cache.
        ended: ``complete``, ``budget`` or ``interrupted``.
        own_problems: for each problem, why the kernel's own configuration has no valid result, or "".
        own_unlaunchable: for each problem, True if the kernel's own configuration compiles but cannot be launched on
            this kind of GPU.
        example: the first failure's reason in full.
        not_kept: why the journal ends before the search did, or "".
        learned: for each problem, the corrections from measured times, in words; empty if there are none.
    """

    space: Space
    ranked: list[list[Evaluation]] = field(default_factory=list)
    own: list[Evaluation | None] = field(default_factory=list)
    pruned: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    inert: tuple[str, ...] = ()
    duplicates: int = 0
    progress: Progress = field(default_factory=Progress)
    compile_seconds: float = 0.0
    ended: Literal["complete", "budget", "interrupted"] = "complete"
    own_problems: list[str] = field(default_factory=list)
    own_unlaunchable: list[bool] = field(default_factory=list)
    example: str = ""
    not_kept: str = ""
    learned: list[list[str]] = field(default_factory=list)
