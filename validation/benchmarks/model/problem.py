"""Problems that the model is evaluated on, with their configurations, in families of one measured kernel each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from validation.benchmarks.model.compiling import Point
from validation.benchmarks.model.data import Row


@dataclass(frozen=True)
class Candidate:
    """One configuration of a problem.

    Attributes:
        points: its launches; the sum of their times counts, or only the longest.
        config: published configuration, for tables.
        time_us: measured microseconds; ``None`` if unknown.
        suspect: whether the data's collectors consider the time disturbed.
        winner: whether this is the published winner of a search.
        triton: Triton version in the row that it was measured with; empty if the row names none.
        longest: whether only the longest of its launches was timed.
        release: release that compiles it if the row names none and the family's release behaves differently.
        valid: whether it could be launched, for questions about that.
        lds: bytes of LDS that its launch requested, if the error names them.
        matrix_share: share of its loop's cycles that a wavefront's matrix instructions fill in a thread trace.
        loop_cycles: cycles per iteration of its loop in a thread trace.
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
    """Configurations of one problem, and its minimum work.

    Attributes:
        name: short and unique within its family.
        candidates: configurations.
        flops: required operations.
        bytes: minimum number of bytes to move.
        rate: name of the matrix rate in the hardware files: ``bf16``, ``fp16``, ``fp8``.
        product: the GPU.
        sides: its matrix products as (M, N, K, count, bytes of an element); empty for other problems.
        part: part of its family, if each part has its own figures.
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
    """Overhead that a timing method adds to the time on the GPU: the host's launch, events around it.

    Attributes:
        usual: assumed microseconds of overhead in a published time.
        least: minimum overhead.
        most: maximum overhead.
    """

    usual: float = 0.0
    least: float = 0.0
    most: float = 0.0


@dataclass(frozen=True)
class Family:
    """The problems of one measured kernel.

    Attributes:
        name: name for ``--only``.
        title: title for headings.
        question: ``order`` (ranking of timed configurations), ``winner`` (position of the published winner in its
            space), ``time`` (absolute time of single configurations), ``pair`` (gain of the second over the first),
            ``validity`` (whether it can be launched, and its LDS), ``tile`` (time, and utilisation of the matrix
            unit in the loop), ``loop`` (cycles per iteration).
        differs: difference of our kernel from the measured one, in one sentence.
        problems: function that returns the problems from the rows of the data, fewer if ``quick``.
        note: remarks on the measurements.
        timing: overhead of the timing method.
        private: whether lines of its table would be single times of the data, which must not be published.
        packages: names of packages with the measured kernel; the first available one is used.
        drawn: number of configurations of a problem besides the winner if the measured kernel replaces the
            stand-in; kernels with compiled-in sizes need a compile for each. ``None``: all.
        triton: release that compiles rows that name none, if it is not the usual one.
        stand_in: whether the timed kernel differs from the predicted one, or more was timed; such a family
            evaluates ranges but does not fit them.
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
    """Return a published configuration with our kernels' names; knobs that ``names`` lacks keep theirs."""
    return {names.get(name, name): value for name, value in config.items() if value is not None} | fixed


def gemm_bytes(m: int, n: int, k: int, size: int, out: int = 2) -> float:
    """Return the bytes of reading the operands once and writing the result once."""
    return float((m * k + k * n) * size + m * n * out)
