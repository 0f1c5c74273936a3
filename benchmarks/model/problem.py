"""What is asked of the model: problems with their configurations, in families of one measured kernel each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.model.compiling import Point
from benchmarks.model.data import Row


@dataclass(frozen=True)
class Candidate:
    """One configuration of a problem.

    Attributes:
        points: the launches that it needs; their times add up, or the longest counts.
        config: as published, for tables.
        time_us: measured, ``None`` where it is not known.
        suspect: the collectors of the data took the time for a disturbance.
        winner: the published winner of a search.
        triton: the version that it was measured with, as the row names it; empty where it names none.
        longest: of its launches only the one that takes longest was timed.
        release: what compiles it where the row names none and the family's would not do what was measured.
        valid: whether it could be launched, where that is what is asked.
        lds: bytes of LDS that its launch asked for, where the error named them.
        matrix_share: of its loop's cycles, those that a wavefront's matrix instructions fill, by a thread trace.
        loop_cycles: cycles of an iteration of its loop, by a thread trace.
    """

    points: tuple[Point, ...]
    config: Mapping[str, Any]
    time_us: float | None = None
    suspect: bool = False
    winner: bool = False
    triton: str = ""
    longest: bool = False
    release: str = ""
    valid: bool | None = None
    lds: int | None = None
    matrix_share: float | None = None
    loop_cycles: float | None = None


@dataclass(frozen=True)
class Problem:
    """Configurations of one problem, and the least that any of them must do.

    Attributes:
        name: short and unique within its family.
        candidates: configurations.
        flops: operations that the problem needs.
        bytes: bytes that must be moved at least.
        rate: matrix rate's name in the hardware files: ``bf16``, ``fp16``, ``fp8``.
        product: the GPU.
        sides: matrix products in it, as (M, N, K, how many, bytes of an element); empty for other problems.
        part: of its family, where figures are wanted for each part.
    """

    name: str
    candidates: tuple[Candidate, ...]
    flops: float
    bytes: float
    rate: str
    product: str
    sides: tuple[tuple[int, int, int, int, int], ...] = ()
    part: str = ""


@dataclass(frozen=True)
class Timing:
    """What a way of timing adds to the time on the GPU: the host's launch, events around it.

    Attributes:
        usual: microseconds that a published time is taken to have of it.
        least: that it has at least.
        most: that it may have.
    """

    usual: float = 0.0
    least: float = 0.0
    most: float = 0.0


@dataclass(frozen=True)
class Family:
    """The problems of one measured kernel.

    Attributes:
        name: as ``--only`` takes it.
        title: for headings.
        question: ``order`` (rank the timed configurations), ``winner`` (where in its space is the published one),
            ``time`` (absolute time of single configurations), ``pair`` (gain of the second over the first),
            ``validity`` (does it launch, with how much LDS), ``tile`` (time, and how full the matrix unit is in the
            loop), ``loop`` (cycles of its iteration).
        differs: where our kernel is not the measured one, one sentence.
        problems: from the rows of the data, fewer when ``quick``.
        note: what to know of the measurements.
        timing: what the way of timing adds to the time on the GPU.
        private: lines of its table would be single times of the data, which are not ours to publish.
        packages: that have the measured kernel, by their names; the first that is there counts.
        drawn: configurations of a problem besides the winner, drawn where the measured kernel takes its place: of
            kernels that have the sizes compiled in each configuration is a compile of its own. ``None``: all.
        triton: the release that compiles rows that name none, where that is not the usual one.
        stand_in: what was timed is another kernel than the one that is predicted, or more than it: ranges are judged on
            it, and not fitted.
    """

    name: str
    title: str
    question: str
    differs: str
    problems: Callable[[Sequence[Row], bool], list[Problem]]
    note: str = ""
    timing: Timing = Timing()
    private: bool = False
    packages: tuple[str, ...] = ()
    drawn: int | None = None
    triton: str = ""
    stand_in: bool = False


def renamed(config: Mapping[str, Any], names: Mapping[str, str], **fixed: Any) -> dict[str, Any]:
    """A published configuration in our kernels' words; knobs that ``names`` lacks keep theirs."""
    return {names.get(name, name): value for name, value in config.items() if value is not None} | fixed


def gemm_bytes(m: int, n: int, k: int, size: int, out: int = 2) -> float:
    """Operands once in, result once out."""
    return float((m * k + k * n) * size + m * n * out)
