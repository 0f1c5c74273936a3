"""Read Tensile's library logic (YAML): the solution that rocBLAS or hipBLASLt uses for each GEMM size.

The file is a list. Its items are version, schedule, architecture, devices, problem type, solutions with hundreds of
parameters each, order of indices, sizes with solution and performance, and the method of matching sizes (``Equality``,
``GridBased``). Such files have up to hundreds of megabytes, of which the sizes are the last few lines. They are
therefore not parsed as YAML but read line by line, in the layout that Tensile writes. The file names the performance
metric, such as ``DeviceEfficiency``. Depending on the tuning run, its values are measured GFLOP/s or fractions; they
are returned unchanged.
"""

import re
from pathlib import Path
from typing import Any

from kprof.inputs.results.model import ResultFormat, RowCollector, ToolResults, lines_of, number, whole_number

_TYPES = {
    0: "f32",
    1: "f64",
    2: "c32",
    3: "c64",
    4: "f16",
    5: "i8x4",
    6: "i32",
    7: "bf16",
    8: "i8",
    10: "f8",
    11: "bf8",
}
_SIZES = re.compile(r"^(?:- )?(?:  )?- - \[([\d,\s-]{1,400})\]$", re.ASCII)
_CHOICE = re.compile(r"^\s+- \[(-?\d{1,9}),\s*([-+.\deE]{1,40})\]$", re.ASCII)
_KEYS = ("DataType", "DestDataType", "ComputeDataType", "TransposeA", "TransposeB", "OperationType", "StridedBatched")
_PROBLEM = re.compile(rf"^(?:- |  )({'|'.join(_KEYS)}): (\S{{1,40}})$")
_INDEX = re.compile(r"^\s+SolutionIndex: (\d{1,9})$")
_NAME = re.compile(r"^\s+(?:SolutionNameMin|KernelNameMin): (\S{1,2000})$")
_MATCHING = ("Equality", "GridBased", "FreeSize", "Prediction")


def recognise(head: bytes) -> bool:
    """Return whether the file begins with ``MinimumRequiredVersion`` and contains the fields of a problem type."""
    return head.lstrip(b"\xef\xbb\xbf- \r\n")[:40].startswith(b"{MinimumRequiredVersion:") and b"DataType:" in head


def read(path: Path, shown: str) -> ToolResults:
    """Return one row per GEMM size."""
    found = RowCollector()
    lines = lines_of(path, shown, found)
    top = [(at, line[2:].strip()) for at, line in enumerate(lines) if line.startswith("- ")]
    for name, (_, text) in zip(("version", "schedule", "architecture", "devices"), top, strict=False):
        found.facts[name] = text[:120]
    problem, names = _described(lines)
    found.facts |= {name: str(value) for name, value in problem.items()}
    found.facts["solutions"] = f"{len(names):,}"
    _sizes(_join_wrapped_lines(lines), names, found)
    tail = [line[2:].strip() for line in lines[-12:] if line.startswith("- ")]
    found.facts["metric"] = next((text for text in tail if text.endswith("Efficiency")), "not recorded")
    found.facts["matching"] = next((text for text in tail if text in _MATCHING), "not recorded")
    last = max((at for at, line in enumerate(lines) if _CHOICE.match(line)), default=0)
    if not any(line.startswith("- ") for line in lines[last + 1 :]):
        found.complain(len(lines), "nothing follows the sizes: the file was cut off, and sizes may be missing")
    return found.results(shown, "Tensile library logic", "chosen solution")


def _described(lines: list[str]) -> tuple[dict[str, Any], dict[int, str]]:
    """Return the fields of the problem type, and the names of the solutions by index."""
    problem: dict[str, Any] = {}
    names: dict[int, str] = {}
    index, name = None, None
    for line in lines:
        if (match := _PROBLEM.match(line)) is not None:
            code = whole_number(match[2])
            typed = match[1].endswith("DataType") and code is not None
            problem.setdefault(match[1], _TYPES.get(code or 0, match[2]) if typed else match[2])
        elif (match := _INDEX.match(line)) is not None:
            index = int(match[1])
        elif (match := _NAME.match(line)) is not None:
            name = match[1]
        elif line.startswith("  - "):
            index, name = None, None
        if index is not None:
            names[index] = name or names.get(index, "")
    return problem, names


def _join_wrapped_lines(lines: list[str]) -> list[tuple[int, str]]:
    """Return the lines with their numbers, joining lists of sizes that the writer wrapped over two lines."""
    joined: list[tuple[int, str]] = []
    for at, line in enumerate(lines, 1):
        open_list = bool(joined) and joined[-1][1].endswith(",") and joined[-1][1].lstrip("- ").startswith("[")
        if open_list and len(joined[-1][1]) < 400:
            joined[-1] = (joined[-1][0], f"{joined[-1][1]} {line.strip()}")
        else:
            joined.append((at, line))
    return joined


def _sizes(lines: list[tuple[int, str]], names: dict[int, str], found: RowCollector) -> None:
    """Parse pairs of lines: sizes (M, N, batch, K and often four strides), then solution and performance."""
    for (at, line), (_, after) in zip(lines, [*lines[1:], (0, "")], strict=True):
        sizes = _SIZES.match(line)
        if sizes is None:
            continue
        choice = _CHOICE.match(after)
        numbers = [whole_number(text) for text in sizes[1].split(",")]
        if choice is None:
            found.complain(at, "sizes without a solution")
            continue
        if len(numbers) < 4 or any(size is None for size in numbers):
            found.complain(at, f"[{sizes[1][:60]}] are not sizes of a GEMM")
            continue
        row: dict[str, Any] = dict(zip(("m", "n", "batch", "k"), numbers, strict=False))
        index = int(choice[1])
        row |= {"solution": index, "performance": number(choice[2]), "solution_name": names.get(index) or None}
        if names and index not in names:
            found.complain(at, f"solution {index} is not in the file")
        found.rows.append(row)


FORMAT = ResultFormat("Tensile library logic", recognise, read)
"""Chosen solutions by GEMM size."""
