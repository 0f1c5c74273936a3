"""Answers of a session, kept short for language models; kprof's API functions return the complete documents.

Every time is predicted, in microseconds, with the model's likely range. Unknown values are ``None``, never 0.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

from kprof.advised import KnownAdvice


@dataclass(frozen=True)
class Time:
    """A predicted time of one launch, in microseconds, with its likely range, and what bounds it.

    ``certainty`` says how certain the time is, or advises to measure it if the model cannot decide.
    """

    us: float
    low_us: float
    high_us: float
    bound: str = ""
    certainty: str = "modelled, not measured"


@dataclass(frozen=True)
class CauseAnswer:
    """A cause of lost time: its rule, the observation, ``file:line``, the cost, and what to do.

    ``todo`` has a ``fix`` (a change of knobs that was compiled, a change of the code, or both) and a ``try`` (knobs
    that were not compiled), each with its gain. ``saves_us`` is the predicted time that the cause costs; with
    ``at_most`` it is an upper bound. ``same_cause`` names the rules of findings with the same cause.
    """

    rule: str
    name: str
    severity: str
    message: str
    where: str | None = None
    cost: str = ""
    todo: dict[str, str] = field(default_factory=dict)
    saves_us: float | None = None
    at_most: bool = False
    same_cause: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class KernelAnswer:
    """A compiled kernel: registers per lane, LDS bytes per workgroup, wavefronts per SIMD, time, and causes by cost.

    ``better`` is ``None`` until ``advise`` has searched for better knobs.
    """

    name: str
    arch: str
    product: str | None
    triton: str | None
    grid: list[int] | None
    time: Time | None
    vgprs: int | None
    agprs: int | None
    vgpr_spills: int | None
    lds_bytes: int | None
    waves_per_simd: float | None
    occupancy_limiter: str | None
    causes: list[CauseAnswer]
    not_checked: list[str]
    notes: list[str]
    better: KnownAdvice | None = None


@dataclass(frozen=True)
class Analyzed:
    """Answer to ``analyze``: the analysed kernels, and the verdict in a sentence as ``summary``."""

    summary: str
    kernels: list[KernelAnswer]


@dataclass(frozen=True)
class Suggestion:
    """A change of knobs that was compiled, and what to verify in the compiled code before benchmarking it."""

    change: dict[str, Any]
    config: dict[str, Any]
    time: Time | None
    must_see: list[str]


@dataclass(frozen=True)
class AdviceAnswer:
    """Better knobs for a kernel, best first; empty if the search found none within its time limit.

    ``failures`` names plug-in analyzers that failed on the unchanged kernel; the rest of the answer is still valid.
    """

    summary: str
    kernel: str
    arch: str
    start: Time | None
    suggestions: list[Suggestion]
    tried: int
    left: int
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class RankedConfig:
    """A configuration and its rank by predicted time; ``tie``: the model cannot distinguish it from the fastest."""

    rank: int
    config: dict[str, Any]
    time: Time
    vgpr_spills: int | None
    waves_per_simd: float | None
    tie: bool = False


@dataclass(frozen=True)
class Ranking:
    """The configurations of one problem, fastest predicted time first."""

    summary: str
    problem: str
    ended: str
    looked_at: int
    legal: int
    configs: list[RankedConfig]


@dataclass(frozen=True)
class ChangeAnswer:
    """A difference between two compiles of a kernel. ``note`` qualifies it, for example ``for 2 times the work``."""

    kernel: str
    metric: str
    text: str
    old: Any
    new: Any
    effect: str
    where: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Compared:
    """Answer to ``compare``: changes between two compiles; ``status`` is ``ok``, ``regression`` or ``cannot_tell``."""

    summary: str
    status: str
    old_time: Time | None
    new_time: Time | None
    changes: list[ChangeAnswer]


@dataclass(frozen=True)
class Occupied:
    """Answer to ``occupancy``: wavefronts per SIMD, the limiting resource, and what to reduce for more wavefronts."""

    summary: str
    kernels: list[dict[str, Any]]


@dataclass(frozen=True)
class RuleText:
    """A rule: what it detects, why it matters, and what to try."""

    rule: str
    name: str
    severity: str
    text: str


@dataclass(frozen=True)
class KernelList:
    """The bundled kernels, each with its cases and knobs."""

    kernels: list[dict[str, Any]]


@dataclass(frozen=True)
class Captured:
    """The kernels that a program launched; ``path`` is a target for the other queries."""

    summary: str
    path: str
    kernels: list[dict[str, Any]]
    complete: bool


@dataclass(frozen=True)
class CheckAnswer:
    """The result of one correctness check of a candidate; ``reason`` names the worst element if the result is wrong."""

    name: str
    correct: bool
    reason: str = ""


@dataclass(frozen=True)
class OracleAnswer:
    """The oracle's verdict on a candidate kernel.

    A candidate replaces the Triton function of a case (a kernel and a shape).

    Attributes:
        status: ``ok``: the candidate compiles, and its results are correct or cannot be checked; ``wrong``: a result
            is wrong; ``failed``: it does not compile, cannot be launched or raises; ``refused``: its file does not have
            the form of a candidate; ``limit``: it exceeded its time or memory limit; ``tampered``: it changed the code
            that judges it; ``implausible``: it moves fewer bytes or computes less than the case needs.
        compiled: whether the candidate compiles.
        correct: whether the results of all checks are within the case's tolerance; ``None`` if not checked.
        kernel: registers, LDS, wavefronts, findings and predicted time with its range; ``None`` if it did not compile.
        checks: results of the case's checks, run in Triton's interpreter.
        reasons: problems of the candidate, and sentences on what could not be checked.
    """

    status: str
    compiled: bool
    correct: bool | None
    kernel: KernelAnswer | None
    checks: list[CheckAnswer] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the candidate compiles and no check failed."""
        return self.status == "ok"

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof oracle`` writes."""
        return asdict(self)
