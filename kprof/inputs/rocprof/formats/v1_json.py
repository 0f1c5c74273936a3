"""Read ``results.json`` of rocprof v1: a complete file, or a fragment that begins with a comma.

Only the times in an event's ``args`` are used, because ``ts`` and ``dur`` are microseconds without fraction, as text or
number. The name of an event's process determines its kind: ``COPY``, ``GPU0``, ``GPU Barriers0``, ``CPU HIP API`` and
so on. The process's number does not, because it differs between versions of rocprof.
"""

import re

import msgspec

from kprof.errors import InputError
from kprof.inputs.boundary import JSON_ERRORS
from kprof.inputs.rocprof.columns import DISPATCH, Column, key
from kprof.inputs.rocprof.dispatching import complain_about_repeats, dispatches, trusted_durations
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import factorised
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.opening import Opened

_START = re.compile(rb'^\s*(\{\s*"traceEvents"\s*:\s*\[|,?\s*\{)')
_BARRIER = "<barrier packet>"
_DOMAINS = {"HIP": "HIP_API", "HSA": "HSA_API", "Marker": "MARKER_API"}
# Columns whose names differ between operations and dispatches: dev-id instead of gpu-id, for example.
_OPERATION: dict[str, Column] = {"dev-id": ("agent", "agent"), "Index": ("correlation_id", "int")}


class _Event(msgspec.Struct):
    name: str = ""
    ph: str = ""
    pid: int | str = 0
    tid: int | str = 0
    args: dict[str, str | int | float | None] = {}


def _recognise(opened: Opened) -> float:
    head = opened.head
    if not _START.match(head[:200]) or b'"ph"' not in head[:20000]:
        return 0.0
    marks = (b'"DispatchNs"', b'"KernelName"', b'"gpu-id"', b'"BeginNs"', b'"EndNs"')
    return 1.0 if sum(mark in head for mark in marks) >= 2 else 0.0


def _sorted(events: list[_Event]) -> tuple[list[_Event], list[_Event], list[_Event], list[tuple[str, _Event]], int]:
    """Sort events into dispatches, GPU operations without details, copies and calls (domain, event); count barriers."""
    labels = {str(e.pid): str(e.args.get("name", "")) for e in events if e.ph == "M" and e.name == "process_name"}
    kernels: list[_Event] = []
    operations: list[_Event] = []
    copies: list[_Event] = []
    calls: list[tuple[str, _Event]] = []
    barriers = 0
    for event in events:
        if event.ph != "X" or "BeginNs" not in event.args:
            continue
        label = labels.get(str(event.pid), "")
        if "KernelName" in event.args:
            kernels.append(event)
        elif label.startswith("GPU"):
            barrier = "Barrier" in label or event.name == _BARRIER
            barriers += barrier
            if not barrier:
                operations.append(event)
        elif label == "COPY":
            copies.append(event)
        else:
            calls.append((next((domain for word, domain in _DOMAINS.items() if word in label), ""), event))
    return kernels, operations, copies, calls, barriers


def _read(opened: Opened, part: FileTables) -> None:
    events = _events(bytes(opened.body), opened, part)
    launches, operations, copies, calls, barriers = _sorted(events)
    if calls:
        columns = _timed([event for _, event in calls], part, "api_calls")
        domains = [domain or None for domain, _ in calls]
        part.tables["api_calls"] = columns | {"domain": factorised(domains)} if any(domains) else columns
    if copies:
        columns = _timed(copies, part, "copies")
        columns["direction"] = columns.pop("function")
        part.tables["copies"] = columns
    if barriers:
        part.complain("barriers-left-out", "note", f"{barriers:,} barrier packets are not kernels and are left out",
                      count=barriers)  # fmt: skip
    if launches and operations:
        part.complain("same-dispatches", "note", f"{len(operations):,} operations of the GPU are also dispatches, with "
                      "more details; they are not counted again", count=len(operations))  # fmt: skip
    kernels = [e.args for e in launches] or [{"KernelName": e.name, **e.args} for e in operations]
    _dispatches(kernels, part)
    part.describe(rows=len(kernels) + len(calls) + len(copies))


def _dispatches(kernels: list[dict[str, str | int | float | None]], part: FileTables) -> None:
    columns: Columns = {}
    for name in dict.fromkeys(name for args in kernels for name in args):
        known = _OPERATION.get(name) or DISPATCH.get(key(name))
        if known is None or known[1] == "skip":
            continue
        texts = [args.get(name) for args in kernels]
        columns[known[0]] = factorised(texts) if known[1] == "name" else _numbers(texts)
    if kernels:
        # results.csv calls this position Index.
        columns.setdefault("dispatch_id", _numbers(list(range(len(kernels)))))
        table = dispatches(columns, part)
        complain_about_repeats(table, part)
        part.tables["dispatches"] = table
    else:
        part.complain("no-records", "warning", "no kernel in the file")


def _timed(events: list[_Event], part: FileTables, what: str) -> Columns:
    """Return names and times of calls or copies."""
    columns: Columns = {"function": factorised([e.name for e in events])}
    for name, source in (("start_ns", "BeginNs"), ("end_ns", "EndNs"), ("process_id", "pid"), ("thread_id", "tid"),
                         ("correlation_id", "Index")):  # fmt: skip
        columns[name] = _numbers([e.args.get(source) for e in events])
    columns["duration_ns"] = trusted_durations(columns, part, what=what)
    return columns


def _numbers(texts: list[str | int | float | None]) -> object:
    import pandas as pd

    values = []
    for text in texts:
        try:
            number = int(str(text), 0) if text not in {None, ""} else None
        except ValueError:
            number = None
        values.append(number if number is not None and -(2**63) <= number < 2**63 else None)
    numbers = pd.array(values, dtype="Int64")
    return numbers if numbers.isna().any() else numbers.to_numpy("int64")


def _events(text: bytes, opened: Opened, part: FileTables) -> list[_Event]:
    if text.lstrip()[:1] == b",":
        part.complain(
            "fragment", "note", "the file is a fragment: it begins with a comma, and other files contain the rest"
        )
        return _salvaged(text, opened, part, "a fragment is not complete JSON")
    try:
        return msgspec.json.decode(text, type=_Document).traceEvents
    except JSON_ERRORS as error:
        return _salvaged(text, opened, part, str(error))


class _Document(msgspec.Struct):
    traceEvents: list[_Event] = []  # noqa: N815 - the file's word


def _salvaged(text: bytes, opened: Opened, part: FileTables, reason: str) -> list[_Event]:
    """Return the events before the damage; rocprof begins each event on a new line with ``,{`` or ``{``."""
    decoder = msgspec.json.Decoder(_Event)
    start = text.find(b"[") + 1 if b'"traceEvents"' in text[:200] else 0
    body = text[start:].rstrip().removesuffix(b"}").rstrip().removesuffix(b"]") if start else text
    pieces = re.split(rb"\n\s*,\s*(?=\{)", b"\n" + body.lstrip())
    events = []
    bad = 0
    for piece in filter(bytes.strip, pieces):
        try:
            events.append(decoder.decode(piece.strip().strip(b",")))
        except JSON_ERRORS:
            bad += 1
    if not any(e.ph == "X" for e in events):
        raise InputError(f"not readable as JSON: {reason}", path=str(opened.path))
    if bad:
        part.complain("damaged-json", "error", f"the JSON is cut off or damaged ({reason}); {len(events):,} "
                      f"events were read, {bad:,} were not", count=bad)  # fmt: skip
    return events


FORMAT = OtherFormat("trace JSON", "rocprof", "trace", _recognise, _read)
