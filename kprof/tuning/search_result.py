"""How far a search is, and what it knows when it ends."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from kprof.tuning.evaluation import Evaluation
from kprof.tuning.space import Space


@dataclass
class Progress:
    """How far a search is.

    Attributes:
        compiled: configurations compiled in this run; all launches of ``cached`` of them came from kprof's cache.
        resumed: configurations known from an earlier run.
        derived: configurations that differ from compiled ones only in knobs that left this kernel's time as it is.
        shared: configurations whose compiles are those of configurations chosen before.
        refused: configurations that the kernel itself refuses, so that there is nothing to compile.
        compiles: compiles done in this run, those of the kernel's own configuration and of further launches included.
        total: configurations that are legal, those of all problems.
        failed: configurations that are no good.
        seconds: since the start.
        budget: seconds that it may take, ``None``: no limit.
        best: name of the last problem that got a better configuration, and its time in microseconds.
        axis: where there are no times, what the extent depends on; ``best`` is then in cycles for each element of it.
        problems: how many there are.
        tiles: different tiles (blocks and wavefronts) among the legal configurations, ``tiles_seen`` of them looked at.
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
        """Configurations judged without a compile in this run."""
        return self.resumed + self.derived + self.shared + self.refused

    @property
    def done(self) -> int:
        """Configurations looked at: those compiled and those judged without a compile."""
        return self.compiled + self.uncompiled

    @property
    def rate(self) -> float:
        """Compiles a second."""
        return self.compiles / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds until it ends, as it looks now."""
        fresh = self.done - self.resumed
        rest = (self.total - self.done) * self.seconds / fresh if fresh else None
        budget = None if self.budget is None else max(0.0, self.budget - self.seconds)
        return min((value for value in (rest, budget) if value is not None), default=None)


@dataclass
class SearchResult:
    """What a search knows when it ends.

    Attributes:
        space: what it chose from.
        ranked: for each problem, what was found, fastest first, one entry for each program.
        own: for each problem, the kernel's own configuration; ``None`` where it has none or it is no good.
        pruned: combinations left out before compiling, by reason, over all problems.
        failed: configurations that are no good, by reason.
        inert: knobs that left this kernel's time as it is, see :mod:`kprof.tuning.inert`.
        duplicates: configurations whose program another one gave already.
        progress: how far it came, over all problems; ``total`` and ``seconds`` are those of the whole run.
        compile_seconds: sum of the compiles of this run that did not come from the cache.
        ended: ``complete``, ``budget`` or ``interrupted``.
        own_problems: for each problem, why the kernel's own configuration is no good; empty where it is.
        own_unlaunchable: for each problem, whether that is because it compiles and no GPU of the kind could launch it.
        example: the first reason why a configuration is no good, in full.
        not_kept: why the journal ends before the search did; empty when it does not.
        learned: for each problem, what measured times said of its predictions; empty where none were given.
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
