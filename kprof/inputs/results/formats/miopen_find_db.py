"""MIOpen's find-db in text: the solvers that were timed for each convolution (``*.fdb.txt``, ``*.ufdb.txt``).

A line is a convolution and its solvers: ``KEY=ALGORITHM:SOLVER,MS,WORKSPACE,KERNELS,KEY;...``, and from MIOpen 3 on
``KEY=SOLVER:MS,WORKSPACE,ALGORITHM;...``. Times are in milliseconds, workspaces in bytes. A line is one measurement
of all of them, so that its smallest time is the solver that MIOpen takes.
"""

from pathlib import Path
from typing import Any

from kprof.inputs.results.formats._convolution import KEY, entries, problem
from kprof.inputs.results.model import ResultFormat, RowCollector, ToolResults, positive, whole

_ALGORITHM = "miopenConvolution"


def recognise(head: bytes) -> bool:
    """Keys of convolutions with times of algorithms."""
    return KEY.search(head) is not None and _ALGORITHM.encode() in head


def read(path: Path, shown: str) -> ToolResults:
    """A row a solver of a convolution; ``best`` marks the fastest of each."""
    found = RowCollector()
    problems = 0
    for at, key, solvers in entries(path, shown, found):
        convolution = problem(key) if solvers is not None else None
        if convolution is None or solvers is None:
            found.complain(at, f"{key[:60]!r} is no convolution")
            continue
        problems += 1
        flops = convolution.pop("flops")
        rows = [row for item in solvers.split(";") if item and (row := _solver(item, at, found)) is not None]
        best = min((row["time_ms"] for row in rows), default=None)
        for row in rows:
            row["tflops"] = flops / (row["time_ms"] * 1e9)
            row["best"] = row["time_ms"] == best
            found.rows.append({"problem": key, **convolution, **row})
    found.facts["problems"] = f"{problems:,}"
    return found.results(shown, "MIOpen find-db", "timed solver", cost="time_ms")


def _solver(item: str, at: int, found: RowCollector) -> dict[str, Any] | None:
    name, colon, rest = item.partition(":")
    fields = rest.split(",")
    old = name.startswith(_ALGORITHM)
    solver, values = (fields[0], fields[1:]) if old else (name, fields)
    if not colon or len(values) < 2:
        found.complain(at, f"{item[:60]!r} has no time and workspace")
        return None
    time = positive(values[0])
    workspace = whole(values[1])
    if time is None or workspace is None:
        wrong = values[0] if time is None else values[1]
        found.complain(at, f"{wrong[:40]!r} is no {'time' if time is None else 'size of a workspace'}")
        return None
    algorithm = name if old else (values[2] if len(values) > 2 else "")
    return {"solver": solver, "algorithm": _short(algorithm), "time_ms": time, "workspace_bytes": workspace}


def _short(algorithm: str) -> str | None:
    """``Winograd`` of ``miopenConvolutionFwdAlgoWinograd``."""
    return algorithm.rpartition("Algo")[2] if algorithm.startswith(_ALGORITHM) else algorithm or None


FORMAT = ResultFormat("MIOpen find-db", recognise, read)
"""Timed solvers of convolutions."""
