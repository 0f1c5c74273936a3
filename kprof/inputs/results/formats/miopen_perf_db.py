"""MIOpen's perf-db in text: tuned parameters of solvers (``*.updb.txt``, ``*.cd.updb.txt`` and older ``*.pdb.txt``).

A line is a problem and its solvers: ``KEY=SOLVER:PARAMETERS;SOLVER:PARAMETERS``. Parameters are what a solver makes
of them, without names. There are no times in it: the find-db has those.
"""

import re
from pathlib import Path

from kprof.inputs.results.formats._convolution import entries, problem
from kprof.inputs.results.model import ResultFormat, RowCollector, ToolResults

_LINE = re.compile(rb"^[0-9][\w.-]{8,250}=[A-Za-z]\w{2,100}:[^=\n]{1,}", re.MULTILINE)
_SOLVER = re.compile(r"([A-Za-z][\w<>-]{0,120}):(.*)", re.ASCII)


def recognise(head: bytes) -> bool:
    """Keys with solvers, and no timed algorithm among them."""
    return _LINE.search(head) is not None and b"miopenConvolution" not in head


def read(path: Path, shown: str) -> ToolResults:
    """A row a solver of a problem."""
    found = RowCollector()
    problems = 0
    for at, key, solvers in entries(path, shown, found):
        if solvers is None or not re.fullmatch(r"[0-9][\w.-]{0,250}", key, re.ASCII):
            found.complain(at, f"{key[:60]!r} is no problem")
            continue
        problems += 1
        convolution = problem(key) or {}
        convolution.pop("flops", None)
        for item in filter(None, solvers.split(";")):
            match = _SOLVER.fullmatch(item)
            if match is None or not match[2]:
                found.complain(at, f"{item[:60]!r} has no solver and parameters")
                continue
            found.rows.append({"problem": key, **convolution, "solver": match[1], "parameters": match[2]})
    found.facts["problems"] = f"{problems:,}"
    return found.results(shown, "MIOpen perf-db", "tuned solver")


FORMAT = ResultFormat("MIOpen perf-db in text", recognise, read)
"""Tuned parameters of convolution solvers."""
