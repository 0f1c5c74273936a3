"""Read logs of library calls: rocBLAS' profile (YAML lines) and the bench commands that rocBLAS and hipBLASLt log.

With ``ROCBLAS_LAYER=4``, a program writes a line per group of equal calls when it ends, with the number of calls: ``- {
rocblas_function: "rocblas_gemm_ex", M: 128, ..., call_count: 4 }``; old versions omit the dash. ``ROCBLAS_LAYER=2`` and
``HIPBLASLT_LOG_MASK=32`` write a command line of ``rocblas-bench`` or ``hipblaslt-bench`` for each call; this module
counts equal command lines. Neither log contains times.
"""

import re
from pathlib import Path
from typing import Any

from kprof.inputs.results.model import ResultFormat, RowCollector, ToolResults, lines_of, value_of

_PROFILE = re.compile(r"^\s*(?:- )?\{\s*rocblas_function:.*$")
_FIELD = re.compile(
    r"([A-Za-z_]\w{0,60}):\s*(?:\"([^\"]{0,200})\"|'([^']{0,200})'|([^,{}\"']{1,200}))\s*(?=,|\})", re.ASCII
)
_COMMAND = re.compile(r"(?:^|[\s/])(rocblas-bench|hipblaslt-bench)\s+(-.*)$")
_OPTION = re.compile(r"(?<=\s)(--?[A-Za-z_]\w{0,60})(?:\s+(?!--?[A-Za-z_])(\S{1,200}))?(?=\s|$)", re.ASCII)
_NAMES = {
    "-m": "m", "-n": "n", "-k": "k", "--sizem": "m", "--sizen": "n", "--sizek": "k", "-f": "function", "-r": "dtype",
    "--function": "function", "--precision": "dtype", "--transposeA": "trans_a", "--transposeB": "trans_b",
    "--transA": "trans_a", "--transB": "trans_b", "-i": "iters", "-j": "cold_iters", "--batch": "batch_count",
}  # fmt: skip
_FIELDS = {"rocblas_function": "function", "transA": "trans_a", "transB": "trans_b", "M": "m", "N": "n", "K": "k"}
_BENCH_ROWS = (b"-Gflops", b"ution_index")


def recognise(head: bytes) -> bool:
    """Return whether the file has a line of rocBLAS' profile, or bench commands without measurements."""
    if re.search(rb"(?m)^\s*(?:- )?\{\s*rocblas_function:", head) is not None:
        return True
    commands = re.search(rb"(?m)(?:^|[ \t/])(?:rocblas|hipblaslt)-bench +-", head) is not None
    measured = any(word in line for line in head.split(b"\n") if b"," in line for word in _BENCH_ROWS)
    return commands and not measured and not head.startswith(b"#!")


def read(path: Path, shown: str) -> ToolResults:
    """Return one row per group of equal calls, in descending order of the number of calls."""
    found = RowCollector()
    kinds: dict[tuple[tuple[str, Any], ...], int] = {}
    tools = set()
    for at, line in enumerate(lines_of(path, shown, found), 1):
        if (command := _COMMAND.search(line)) is not None:
            tools.add(command[1])
            call = _options(command[2])
            kinds[tuple(call.items())] = kinds.get(tuple(call.items()), 0) + 1
        elif _PROFILE.match(line):
            tools.add("rocBLAS")
            _profile(line.rstrip(), at, found, kinds)
    ordered = sorted(kinds.items(), key=lambda item: -item[1])
    found.rows = [{**dict(call), "call_count": count} for call, count in ordered]
    found.facts["calls"] = f"{sum(kinds.values()):,}"
    return found.results(shown, f"log of {' and '.join(sorted(tools)) or 'calls'}", "call", cost="call_count")


def _options(text: str) -> dict[str, Any]:
    """Parse the options of a command line; an option without a value is ``True``."""
    call: dict[str, Any] = {}
    for match in _OPTION.finditer(f" {text.strip()}"):
        call[_NAMES.get(match[1], match[1].lstrip("-"))] = True if match[2] is None else value_of(match[2])
    return call


def _profile(line: str, at: int, found: RowCollector, kinds: dict[tuple[tuple[str, Any], ...], int]) -> None:
    if not line.endswith("}"):
        found.complain(at, "the record is not closed: it was cut off")
        return
    call: dict[str, Any] = {}
    for match in _FIELD.finditer(line):
        text = match[2] if match[2] is not None else match[3] if match[3] is not None else match[4]
        call[_FIELDS.get(match[1], match[1])] = value_of(text)
    count = call.pop("call_count", 1)
    if not isinstance(count, int) or "function" not in call:
        found.complain(at, f"{str(count)[:40]!r} is not a number of calls")
        return
    call["function"] = str(call["function"]).removeprefix("rocblas_")
    kinds[tuple(call.items())] = kinds.get(tuple(call.items()), 0) + count


FORMAT = ResultFormat("log of rocBLAS or hipBLASLt calls", recognise, read)
"""GEMMs and other functions that a program called, with the number of calls."""
