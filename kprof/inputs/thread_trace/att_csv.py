"""Read ATT CSV files in three layouts.

The columns of the first layout are ``CodeObj, Vaddr, Instruction, Hitcount, Latency, Source`` (with blanks after the
commas). The second layout adds ``Stall`` and ``Idle``. The third, of rocprofv2, has ``Addr``, ``Hitcount``, ``Cycles``
and ``C++ Reference``.
"""

import csv
import re

from kprof.errors import InputError
from kprof.inputs.csv_records import records as csv_records
from kprof.inputs.thread_trace.model import DecodedThreadTrace, TracedInstruction, kernel_in

_MEANING = {
    "codeobj": "code_object",
    "codeobject": "code_object",
    "vaddr": "address",
    "addr": "address",
    "address": "address",
    "instruction": "text",
    "asm": "text",
    "line": "text",
    "hitcount": "hits",
    "hit": "hits",
    "hits": "hits",
    "latency": "latency",
    "cycles": "latency",
    "meancycles": "mean",
    "meancycle": "mean",
    "stall": "stall",
    "idle": "idle",
    "source": "source",
    "c++reference": "source",
    "cppreference": "source",
}
_NEEDED = {"text", "hits"}
_MAX_FIELD_LENGTH = 1 << 20


def columns_of(first_line: str) -> dict[str, int] | None:
    """Return the position of each known column if the heading matches a layout, else ``None``."""
    try:
        fields = next(csv.reader([first_line.lstrip("\ufeff")], skipinitialspace=True), [])
    except csv.Error:
        return None
    found: dict[str, int] = {}
    for place, name in enumerate(fields):
        meaning = _MEANING.get(re.sub(r"[\s_]+", "", name).lower())
        if meaning:
            found.setdefault(meaning, place)
    is_trace = found.keys() >= _NEEDED and found.keys() & {"latency", "mean"} and found.keys() & {"address", "source"}
    return found if is_trace else None


def read(text: str, path: str) -> DecodedThreadTrace:
    """Read the text of an ATT CSV file.

    Raises:
        KprofError: if the text is not a CSV in one of the three layouts, or has no instruction.
    """
    lines = text.lstrip("\ufeff").splitlines()
    places = columns_of(lines[0]) if lines else None
    if places is None:
        raise InputError("no thread trace table", path=path, place="line 1")
    width = len(next(csv_records(lines[:1], path)))
    issues: list[str] = []
    kernel: str | None = None
    instructions: list[TracedInstruction] = []
    bad = 0
    for fields in csv_records(lines[1:], path, first=2, skip_spaces=True):
        if not fields:
            continue
        comment = fields[places["text"]] if len(fields) > places["text"] else fields[0]
        if comment.lstrip().startswith(";") or fields[0].lstrip().startswith(";"):
            kernel = kernel or kernel_in(comment if comment.lstrip().startswith(";") else fields[0])
            continue
        one = _instruction(fields, places, len(instructions)) if len(fields) == width else None
        if one is None:
            bad += 1
        else:
            instructions.append(one)
    if bad:
        issues.append(f"{bad} records are cut off or not numbers and are not used")
    if not text.endswith("\n"):
        issues.append("the last line has no line end: if the file was cut there, its last value may be too short")
    if not instructions:
        raise InputError("a thread trace without instructions", path=path)
    layout = "ATT CSV with stalls" if "stall" in places else "ATT CSV"
    if "code_object" not in places:
        layout = "rocprofv2 ATT CSV"
    return DecodedThreadTrace(path, layout, kernel, tuple(instructions), issues=tuple(issues))


def _instruction(fields: list[str], places: dict[str, int], index: int) -> TracedInstruction | None:
    def number(name: str) -> int | None:
        if name not in places:
            return None
        text = fields[places[name]].strip()
        return int(text, 16) if text.lower().startswith("0x") else int(float(text)) if text else None

    try:
        hits = number("hits") or 0
        latency = number("latency")
        if latency is None:
            latency = hits * (number("mean") or 0)
        source = fields[places["source"]].strip() if "source" in places else ""
        return TracedInstruction(
            index,
            fields[places["text"]].strip()[:_MAX_FIELD_LENGTH],
            number("code_object"),
            number("address"),
            hits,
            latency,
            number("stall"),
            number("idle"),
            source or None,
        )
    except (ValueError, OverflowError):
        return None
