"""Read text files that accompany measurements: rocprof's counter requests, rocminfo output and printed summaries."""

import re

from kprof.errors import InputError
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import factorised
from kprof.inputs.rocprof.model import FileTables
from kprof.inputs.rocprof.names import normalise
from kprof.inputs.rocprof.opening import Opened

_LINE = re.compile(r"^\s*pmc\s*:\s*(.*)$", re.MULTILINE)
_ESCAPES = re.compile(r"\x1b?\[\d+(;\d+)*m")
_FIELDS = {
    "node_id": "Node",
    "cu_count": "Compute Unit",
    "wavefront_size": "Wavefront Size",
    "max_clock_mhz": "Max Clock Freq. (MHz)",
    "simds_per_cu": "SIMDs per CU",
}
_NUMBERS = 7
_UNIT_NS = {"nsec": 1.0, "usec": 1e3, "msec": 1e6, "sec": 1e9}


def _is_request(opened: Opened) -> float:
    return 0.9 if re.search(rb"(?m)^\s*pmc\s*:", opened.head[:65536]) and b"\0" not in opened.head[:4096] else 0.0


def _read_request(opened: Opened, part: FileTables) -> None:
    """Read the requested counters from an input file with ``pmc:`` lines, of rocprof or a ``perfmon`` folder."""
    text = bytes(opened.body).decode("utf-8", "replace")
    lines = [match.split() for match in _LINE.findall(text)]
    counters = [counter for line in lines for counter in line]
    part.describe(rows=len(counters))
    part.tables["systems"] = {
        "name": factorised(["requested counter"] * len(counters)),
        "value": factorised(counters),
    }


def _is_rocminfo(opened: Opened) -> float:
    return float(b"HSA System Attributes" in opened.head[:8192] and b"HSA Agents" in opened.head)


def _read_rocminfo(opened: Opened, part: FileTables) -> None:
    """Read the agents of a machine from rocminfo's output, which rocprof v1 writes next to its results."""
    import pandas as pd

    text = _ESCAPES.sub("", bytes(opened.body).decode("utf-8", "replace"))
    agents = [_fields(block) for block in re.split(r"^Agent \d+ *$", text, flags=re.MULTILINE)[1:]]
    if not agents:
        raise InputError("no agent in this rocminfo output", path=str(opened.path))
    part.describe(rows=len(agents))
    node = pd.array([_number(agent.get("Node")) for agent in agents], dtype="Int64")
    part.tables["agents"] = {
        "agent": node,
        "type": factorised([agent.get("Device Type", "?") for agent in agents]),
        "name": factorised([agent.get("Name") for agent in agents]),
        "product": factorised([agent.get("Marketing Name") for agent in agents]),
        **{ours: pd.array([_number(agent.get(theirs)) for agent in agents], dtype="Int64")
           for ours, theirs in _FIELDS.items()},
    }  # fmt: skip
    part.complain("agent-numbers", "note", "rocminfo numbers agents by HSA node, rocprof by its own order: "
                  "match them by name")  # fmt: skip


def _fields(block: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in block.splitlines():
        name, colon, value = line.partition(":")
        if colon and value.strip():
            # The first value is kept, because pools and ISAs below repeat names.
            found.setdefault(name.strip(), value.strip())
    return found


def _number(text: str | None) -> int | None:
    match = re.match(r"\d{1,18}", text or "")
    return int(match[0]) if match else None


def _is_summary(opened: Opened) -> float:
    return float(b"ROCPROFV3" in opened.head[:8192] and b"SUMMARY:" in opened.head[:8192])


def _read_summary(opened: Opened, part: FileTables) -> None:
    """Read the text of rocprofv3 ``--summary``, tables drawn with bars."""
    import numpy as np

    names, domains, numbers = [], [], []
    scale = 1.0
    for line in bytes(opened.body).decode("utf-8", "replace").splitlines():
        unit = re.search(r"DURATION \((\w+)\)", line)
        if unit:
            scale = _UNIT_NS.get(unit[1], 1.0)
        # A name may contain bars; the last cells never do.
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


FORMATS = (
    OtherFormat("counter request", "rocprof", "other", _is_request, _read_request),
    OtherFormat("rocminfo", "rocminfo", "system", _is_rocminfo, _read_rocminfo),
    OtherFormat("summary text", "rocprofv3", "summary", _is_summary, _read_summary),
)
