"""``rocminfo`` text: the agents of a machine. rocprof v1 leaves it beside its results."""

import re

from kprof.errors import InputError
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import factorised
from kprof.inputs.rocprof.model import FileTables
from kprof.inputs.rocprof.opening import Opened

_ESCAPES = re.compile(r"\x1b?\[\d+(;\d+)*m")
_FIELDS = {
    "node_id": "Node",
    "cu_count": "Compute Unit",
    "wavefront_size": "Wavefront Size",
    "max_clock_mhz": "Max Clock Freq. (MHz)",
    "simds_per_cu": "SIMDs per CU",
}


def _recognise(opened: Opened) -> float:
    return float(b"HSA System Attributes" in opened.head[:8192] and b"HSA Agents" in opened.head)


def _read(opened: Opened, part: FileTables) -> None:
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
            # The first wins: pools and ISAs below repeat names.
            found.setdefault(name.strip(), value.strip())
    return found


def _number(text: str | None) -> int | None:
    match = re.match(r"\d{1,18}", text or "")
    return int(match[0]) if match else None


FORMAT = OtherFormat("rocminfo", "rocminfo", "system", _recognise, _read)
