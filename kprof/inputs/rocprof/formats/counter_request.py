"""What was asked for: ``pmc:`` input files of rocprof and of a workload's ``perfmon`` folder."""

import re

from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import factorised
from kprof.inputs.rocprof.model import FileTables
from kprof.inputs.rocprof.opening import Opened

_LINE = re.compile(r"^\s*pmc\s*:\s*(.*)$", re.MULTILINE)


def _recognise(opened: Opened) -> float:
    return 0.9 if re.search(rb"(?m)^\s*pmc\s*:", opened.head[:65536]) and b"\0" not in opened.head[:4096] else 0.0


def _read(opened: Opened, part: FileTables) -> None:
    text = bytes(opened.body).decode("utf-8", "replace")
    lines = [match.split() for match in _LINE.findall(text)]
    counters = [counter for line in lines for counter in line]
    part.describe(rows=len(counters))
    part.tables["systems"] = {
        "name": factorised(["requested counter"] * len(counters)),
        "value": factorised(counters),
    }


FORMAT = OtherFormat("counter request", "rocprof", "other", _recognise, _read)
