"""What a session answers, short enough for a model to read; the whole documents are in the answers of the API.

Every time is modelled: microseconds, with the range that the model claims. ``None`` is unknown, never 0.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

from kprof.advised import KnownAdvice


@dataclass(frozen=True)
class Time:
    """A predicted time of one launch, in microseconds, with its likely range, and what bounds it.

    ``certainty`` says what to do where the model does not know enough.
    """

    us: float
    low_us: float
    high_us: float
    bound: str = ""
    certainty: str = "modelled, not measured"


@dataclass(frozen=True)
class CauseAnswer:
    """A cause: the rule that names it, what was seen, ``file:line``, what it costs, and what to do.

    ``todo`` has a ``fix`` (a change of knobs that was compiled, a change of the code, or both), and ``try`` (knobs that
    nobody compiled), each with what it brings. ``saves_us`` is the predicted time that the cause costs,
    ``at_most`` where the model knows a bound only. ``same_cause`` names the rules whose findings follow from it.
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
    """A compiled kernel: registers a lane, LDS in bytes a workgroup, wavefronts a SIMD, time, and causes by their cost.

    ``better`` is ``None`` where nobody has searched for better knobs of it: ask ``advise``.
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
    """Kernels, analysed; ``summary`` is the verdict in a sentence."""

    summary: str
    kernels: list[KernelAnswer]


@dataclass(frozen=True)
class Suggestion:
    """A change of knobs that was compiled, and what must be seen in the compiled code before it is benchmarked."""

    change: dict[str, Any]
    config: dict[str, Any]
    time: Time | None
    must_see: list[str]


@dataclass(frozen=True)
class AdviceAnswer:
    """Better knobs for a kernel, the best first; empty where none was found in the time given.

    ``failures`` names analyzers of plug-ins that failed at the kernel as it is; the rest of the answer stands.
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
    """A configuration in the order of predicted time; ``tie``: the model cannot tell it from the first one."""

    rank: int
    config: dict[str, Any]
    time: Time
    vgpr_spills: int | None
    waves_per_simd: float | None
    tie: bool = False


@dataclass(frozen=True)
class Ranking:
    """The configurations of one problem, the fastest by prediction first."""

    summary: str
    problem: str
    ended: str
    looked_at: int
    legal: int
    configs: list[RankedConfig]


@dataclass(frozen=True)
class ChangeAnswer:
    """What differs between two compiles of a kernel; ``note`` says what it is of, ``for 2 times the work``."""

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
    """Two compiles, compared: ``status`` is ``ok``, ``regression`` or ``cannot_tell``."""

    summary: str
    status: str
    old_time: Time | None
    new_time: Time | None
    changes: list[ChangeAnswer]


@dataclass(frozen=True)
class Occupied:
    """Wavefronts a SIMD, what limits them, and what to give up for more."""

    summary: str
    kernels: list[dict[str, Any]]


@dataclass(frozen=True)
class RuleText:
    """A rule: what it looks for, why it matters, and what to try."""

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
    """What a program launched: ``path`` is a target for the other questions."""

    summary: str
    path: str
    kernels: list[dict[str, Any]]
    complete: bool


@dataclass(frozen=True)
class CheckAnswer:
    """One of the case's checks: ``reason`` names the worst element where the result is wrong."""

    name: str
    correct: bool
    reason: str = ""


@dataclass(frozen=True)
class OracleAnswer:
    """What is known of a candidate.

    Attributes:
        status: ``ok``: it compiles and is right, or there is nothing to compare it with; ``wrong``: a result is;
            ``failed``: it does not compile, cannot be launched or raises; ``refused``: it is not of the form that
            candidates have; ``limit``: it took more time or memory than it may; ``tampered``: it changed what
            judges it; ``implausible``: its code moves fewer bytes or computes less than the case needs.
        compiled: whether it compiles.
        correct: whether each check's result is within the case's tolerance; ``None``: not checked.
        kernel: registers, LDS, wavefronts, findings and the predicted time with its range; ``None`` without a compile.
        checks: the case's checks, run in Triton's interpreter.
        reasons: what speaks against it, and what was not checked.
    """

    status: str
    compiled: bool
    correct: bool | None
    kernel: KernelAnswer | None
    checks: list[CheckAnswer] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether it compiles and nothing is known to be wrong with it."""
        return self.status == "ok"

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as ``kprof oracle`` writes it."""
        return asdict(self)
