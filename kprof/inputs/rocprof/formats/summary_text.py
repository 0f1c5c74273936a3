"""rocprofv3 ``--summary`` text: tables drawn with bars."""

import re

from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import factorised
from kprof.inputs.rocprof.model import FileTables
from kprof.inputs.rocprof.names import normalise
from kprof.inputs.rocprof.opening import Opened

_NUMBERS = 7
_UNIT_NS = {"nsec": 1.0, "usec": 1e3, "msec": 1e6, "sec": 1e9}


def _recognise(opened: Opened) -> float:
    return float(b"ROCPROFV3" in opened.head[:8192] and b"SUMMARY:" in opened.head[:8192])


def _read(opened: Opened, part: FileTables) -> None:
    import numpy as np

    names, domains, numbers = [], [], []
    scale = 1.0
    for line in bytes(opened.body).decode("utf-8", "replace").splitlines():
        unit = re.search(r"DURATION \((\w+)\)", line)
        if unit:
            scale = _UNIT_NS.get(unit[1], 1.0)
        # A name may hold bars; the last cells may not.
        cells = [cell.strip() for cell in line.strip().strip("|").rsplit("|", _NUMBERS + 1)]
        if len(cells) != _NUMBERS + 2 or unit or set(cells[0]) <= {"-"}:
            continue
        try:
            numbers.append([float(cell) for cell in cells[2:]])
        except ValueError:
            part.complain("bad-value", "warning", "a table line without numbers is not used", excerpt=line[:120])
            continue
        names.append(cells[0])
        domains.append(cells[1])
    part.describe(rows=len(names))
    values = np.array(numbers).reshape(-1, _NUMBERS)
    part.tables["stats"] = {
        "name": factorised(names),
        "kernel_name": factorised([normalise(name) for name in names]),
        "domain": factorised(domains),
        "calls": values[:, 0],
        "total_ns": values[:, 1] * scale,
        "average_ns": values[:, 2] * scale,
        "percentage": values[:, 3],
    }


FORMAT = OtherFormat("summary text", "rocprofv3", "summary", _recognise, _read)
