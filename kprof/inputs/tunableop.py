"""Read PyTorch TunableOp result files, which contain the fastest GEMM solution found for each problem.

A file has no heading. It begins with lines ``Validator,NAME,VALUE``, the configuration for which the file is valid.
Lines ``OPERATOR,PROBLEM,SOLUTION,MILLISECONDS`` follow. The solution ``Default`` means that no solution was faster than
the library's own choice. If another solution was faster, the file does not contain the time of ``Default``. The gain of
tuning can then be computed only with a second file or an untuned measurement.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from kprof.errors import InputError
from kprof.inputs import boundary
from kprof.inputs.csv_records import records as csv_records
from kprof.inputs.opening import head_of

_PROBLEM = re.compile(r"^([nt]{2})_([0-9]{1,12})_([0-9]{1,12})_([0-9]{1,12})(?:_B_([0-9]{1,12}))?(?:_ld_\d+_\d+_\d+)?$")
_OPERATOR = re.compile(r"^(.*?)TunableOp_(.+)_([NT]{2})$")
_MAX_BYTES = 256 << 20


@dataclass(frozen=True)
class Solution:
    """An entry of a result file: the fastest solution for one GEMM problem.

    Attributes:
        operator: ``Gemm``, ``GemmAndBias``, ``GemmStridedBatched``, ``ScaledGemm`` ...
        dtype: data type in PyTorch's spelling: ``float``, ``Half``, ``BFloat16``.
        problem: key of the problem as written.
        transposes: transposes of the column-major BLAS call, such as ``tn``.
        m: rows of the result; like n and k, ``None`` if the key has an unknown form.
        n: columns of the result.
        k: length of the reduction.
        batch: number of problems per call.
        solution: name in rocBLAS or hipBLASLt, or ``Default``.
        milliseconds: time of one call; ``None`` if the file has none.
    """

    operator: str
    dtype: str
    problem: str
    transposes: str | None
    m: int | None
    n: int | None
    k: int | None
    batch: int
    solution: str
    milliseconds: float | None

    @property
    def is_default(self) -> bool:
        """Whether the library's own choice was kept."""
        return self.solution == "Default"

    @property
    def library(self) -> str:
        """Library of the solution: ``Rocblas``, ``Hipblaslt`` or ``Default``."""
        parts = self.solution.split("_")
        return parts[1] if len(parts) > 2 and parts[0] == "Gemm" else self.solution

    @property
    def tflops(self) -> float | None:
        """``2 m n k batch`` operations divided by the time, in TFLOP/s, or ``None``."""
        if self.milliseconds is None or self.m is None or self.n is None or self.k is None or self.milliseconds <= 0:
            return None
        return 2.0 * self.m * self.n * self.k * self.batch / (self.milliseconds * 1e9)


@dataclass(frozen=True)
class TunableOpResults:
    """Content of a result file.

    Attributes:
        path: path of the file.
        validators: configuration for which the results are valid: PyTorch, HIP, library versions, ``GCN_ARCH_NAME``.
        solutions: solutions in file order. A problem may occur several times.
        issues: sentences about records that were skipped.
    """

    path: str
    validators: dict[str, str]
    solutions: tuple[Solution, ...]
    issues: tuple[str, ...]

    @property
    def arch(self) -> str | None:
        """Architecture such as ``gfx1151``, or ``None``."""
        return self.validators.get("GCN_ARCH_NAME", "").split(":")[0] or None

    def best(self) -> dict[tuple[str, str, str], Solution]:
        """Return the fastest entry of each (operator, dtype, problem)."""
        found: dict[tuple[str, str, str], Solution] = {}
        for one in self.solutions:
            key = (one.operator, one.dtype, one.problem)
            before = found.get(key)
            if before is None or (one.milliseconds or math.inf) < (before.milliseconds or math.inf):
                found[key] = one
        return found

    def defaults(self) -> dict[tuple[str, str, str], Solution]:
        """Return the entries that were measured with the library's own choice, by (operator, dtype, problem)."""
        return {(one.operator, one.dtype, one.problem): one for one in self.solutions if one.is_default}


@dataclass(frozen=True)
class TuningGain:
    """Gain of tuning for one problem.

    Attributes:
        default: entry with the library's own choice.
        best: fastest entry.
    """

    default: Solution
    best: Solution

    @property
    def lost_milliseconds(self) -> float:
        """Time per call that is lost without tuning, in milliseconds."""
        return max(0.0, (self.default.milliseconds or 0.0) - (self.best.milliseconds or 0.0))


def gains(results: TunableOpResults, untuned: TunableOpResults | None = None) -> list[TuningGain]:
    """Compare the default with the best entry of each problem for which both times are known; largest gains come first.

    Args:
        results: results of the tuned file.
        untuned: results in which the same problems were timed with ``Default`` (for example a run with tuning of both
            libraries switched off). Without it, only problems that ``results`` itself contains twice can be compared.
    """
    defaults = (untuned or results).defaults()
    best = results.best()
    pairs = [TuningGain(default, best[key]) for key, default in defaults.items() if key in best]
    known = [gain for gain in pairs if gain.default.milliseconds is not None and gain.best.milliseconds is not None]
    return sorted(known, key=lambda gain: -gain.lost_milliseconds)


@dataclass(frozen=True)
class Suspect:
    """A problem with the default solution although a similar problem has a much faster solution.

    Attributes:
        solution: entry with ``Default``.
        neighbour: tuned problem nearest in size.
        expected_milliseconds: estimated time at the neighbour's FLOP rate.
    """

    solution: Solution
    neighbour: Solution
    expected_milliseconds: float


def suspects(results: TunableOpResults) -> list[Suspect]:
    """Return the problems with the default solution that could be at least 10 % faster, judging by a tuned neighbour.

    A neighbour has the same operator, type and transposes, and m, n and k within a factor of two each.
    """
    best = list(results.best().values())
    tuned = [one for one in best if not one.is_default and one.tflops]
    found = []
    for one in best:
        if not one.is_default or not one.tflops or one.milliseconds is None:
            continue
        near = [(distance, other) for other in tuned if (distance := _distance(one, other)) is not None]
        if not near:
            continue
        neighbour = min(near, key=lambda entry: entry[0])[1]
        expected = one.milliseconds * one.tflops / (neighbour.tflops or one.tflops)
        if expected < 0.9 * one.milliseconds:
            found.append(Suspect(one, neighbour, expected))
    return sorted(found, key=lambda suspect: suspect.expected_milliseconds - (suspect.solution.milliseconds or 0.0))


def _distance(one: Solution, other: Solution) -> float | None:
    same = ("operator", "dtype", "transposes", "batch")
    if any(getattr(one, name) != getattr(other, name) for name in same):
        return None
    ratios = [abs(math.log2((getattr(one, axis) or 1) / (getattr(other, axis) or 1))) for axis in "mnk"]
    return sum(ratios) if max(ratios) <= 1.0 else None


def is_results(path: Path) -> bool:
    """Return whether a file begins like a TunableOp result file."""
    head = head_of(path, 512).lstrip(b"\xef\xbb\xbf")
    first = head.split(b"\n", 1)[0]
    return first.startswith(b"Validator,") or re.match(rb"\w+TunableOp_\w+,", first) is not None


def _only_result_file(folder: Path) -> Path:
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and is_results(path)]
    if len(found) != 1:
        names = ", ".join(path.name for path in found[:4])
        raise InputError(
            f"{len(found)} TunableOp result files in this folder" if found else "no TunableOp results in this folder",
            path=str(folder),
            hint=f"name one of them: {names}" if found else "they begin with lines such as Validator,PT_VERSION,...",
        )
    return found[0]


def read(path: str | Path) -> TunableOpResults:
    """Read a result file, or the only result file of a folder.

    Raises:
        KprofError: if it is not a result file or cannot be read.
    """
    place = Path(path)
    try:
        if place.is_dir():
            place = _only_result_file(place)
        text = boundary.read_bytes(place, most=_MAX_BYTES, shown=str(path)).decode("utf-8-sig", "replace")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=str(path)) from error
    validators: dict[str, str] = {}
    solutions: list[Solution] = []
    issues: list[str] = []
    for number, fields in enumerate(csv_records(text.splitlines(), str(path)), 1):
        if len(fields) == 3 and fields[0] == "Validator":
            validators[fields[1]] = fields[2]
        elif len(fields) == 4 and _OPERATOR.match(fields[0]):
            solutions.append(_solution(fields, number, issues))
        elif fields:
            issues.append(f"line {number}: not a result ({len(fields)} fields)")
    if text and not text.endswith("\n"):
        issues.append("the last line has no line end: if the file was cut there, its last value may be too short")
    if not validators and not solutions:
        raise InputError(
            "no TunableOp results", path=str(path), hint="they begin with lines such as Validator,PT_VERSION,..."
        )
    return TunableOpResults(str(path), validators, tuple(solutions), tuple(issues))


def _solution(fields: list[str], number: int, issues: list[str]) -> Solution:
    operator = _OPERATOR.match(fields[0])
    problem = _PROBLEM.match(fields[1])
    try:
        time: float | None = float(fields[3])
    except ValueError:
        time = None
    if time is None or not math.isfinite(time) or time <= 0:
        issues.append(f"line {number}: {fields[3][:40]!r} is not a time")
        time = None
    if problem is None:
        issues.append(f"line {number}: problem {fields[1][:60]!r} is of an unknown form")
    m, n, k = (int(problem[place]) for place in (2, 3, 4)) if problem else (None, None, None)
    return Solution(
        operator[1] if operator else fields[0],
        operator[2] if operator else "?",
        fields[1],
        problem[1] if problem else None,
        m,
        n,
        k,
        int(problem[5] or 1) if problem else 1,
        fields[2],
        time,
    )
