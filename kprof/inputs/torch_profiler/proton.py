"""Read Triton Proton's profiles: trees of scopes and kernels in JSON or MessagePack ("hatchet"), and Chrome traces."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from kprof.errors import InputError
from kprof.inputs import boundary
from kprof.inputs.opening import head_of
from kprof.inputs.torch_profiler.issues import IssueLog, TraceIssue

_INT64_END = 1 << 63
_TIME = "time (ns)"
_CYCLES = "cycles"
# MessagePack marks of an array and a map, followed by the first key.
_PACKED_TREE = re.compile(
    rb"(?:[\x90-\x9f]|\xdc..|\xdd.{4})(?:[\x80-\x8f]|\xde..)(?:\xa8children|\xa5frame)", re.DOTALL
)
# Text between the documents of two streams in one Chrome trace.
_NEXT_STREAM = re.compile(rb'(?P<empty>\[)?\s*\]\s*\}\s*\{[^\[\]{}]{0,100}"traceEvents"\s*:\s*\[\s*(?P<last>(?=\]))?')
_LONGEST_SEAM = 256


class ProtonRow(msgspec.Struct, frozen=True):
    """One node of the tree that has a measurement.

    Attributes:
        name: kernel or scope, as written (C++ names are mangled).
        scope: names of the enclosing scopes, outermost first, without the root.
        time_ns: total time in ns; ``None`` if the profile measures something else.
        count: number of launches.
        device_type, device: device type (``HIP`` or ``CUDA``) and ordinal, as written.
        metrics: all other numbers, as written (``flops16``, ``bytes``, ``cycles``, ...).
    """

    name: str
    scope: tuple[str, ...]
    time_ns: int | None
    count: int | None
    device_type: str | None
    device: str | None
    metrics: dict[str, float]


class ProtonProfile(msgspec.Struct):
    """A profile and the properties of its devices, by device type and ordinal."""

    path: str
    rows: list[ProtonRow]
    devices: dict[str, dict[str, dict[str, Any]]] = {}
    issues: tuple[TraceIssue, ...] = ()


def is_proton(path: Path) -> bool:
    """Return whether a file begins like one of Proton's trees of scopes and kernels ("hatchet" format)."""
    start = head_of(path, 1 << 16).lstrip(b"\xef\xbb\xbf \t\r\n")
    # Keys are sorted in the file, so "children" comes first at every depth.
    return re.match(rb'\[\s*\{\s*"(?:children|frame)"', start) is not None or _PACKED_TREE.match(start) is not None


def one_document(source: Iterator[bytes]) -> Iterator[bytes]:
    """Join the documents of Proton's Chrome trace (one per stream) into a single one; other files pass unchanged."""
    first = next(source, b"")
    if b'"call_stack":["ROOT"' not in first[:4096].replace(b" ", b""):
        yield first
        yield from source
        return
    held = first
    for block in source:
        joined = _NEXT_STREAM.sub(_separator, held)
        yield joined[:-_LONGEST_SEAM]
        held = joined[-_LONGEST_SEAM:] + block
    yield _NEXT_STREAM.sub(_separator, held)


def _separator(match: "re.Match[bytes]") -> bytes:
    begins = match["empty"] or b""
    return begins if begins or match["last"] is not None else b","


def load_proton(path: Path | str) -> ProtonProfile:
    """Read one of Proton's trees of scopes and kernels ("hatchet" format) in JSON or MessagePack.

    Raises:
        KprofError: if the file is unreadable, cut off, larger than 1 GiB, or not in hatchet format.
    """
    path = Path(path)
    data = boundary.read_bytes(path)
    try:
        packed = _PACKED_TREE.match(data[:16]) is not None
        tree = _unpacked(data, path) if packed else json.loads(data.decode(errors="replace"), strict=False)
    except json.JSONDecodeError as error:
        raise InputError(f"not valid JSON: {error.msg}", path=str(path), place=f"line {error.lineno}") from error
    except (ValueError, RecursionError) as error:
        raise InputError("not valid JSON: nested too deep, or a number is too long", path=str(path)) from error
    if not isinstance(tree, list) or not any(isinstance(node, dict) and "frame" in node for node in tree):
        raise InputError("not a Proton profile: no tree of frames", path=str(path))
    log = IssueLog(str(path))
    rows: list[ProtonRow] = []
    devices: dict[str, dict[str, dict[str, Any]]] = {}
    for node in tree:
        if isinstance(node, dict) and "frame" in node:
            _walk(node, rows, log)
        elif isinstance(node, dict):
            devices.update({str(k): v for k, v in node.items() if isinstance(v, dict)})
    if not rows:
        log.add("no-events", "the profile contains no measurement")
    return ProtonProfile(str(path), rows, devices, log.all())


def _unpacked(data: bytes, path: Path) -> Any:
    try:
        return msgspec.msgpack.decode(data)
    except boundary.JSON_ERRORS as error:
        raise InputError(f"not valid MessagePack: {error}", path=str(path)) from error


def _walk(root: dict[str, Any], rows: list[ProtonRow], log: IssueLog) -> None:
    stack: list[tuple[dict[str, Any], tuple[str, ...]]] = [(root, ())]
    while stack:
        node, scope = stack.pop()
        frame = node.get("frame")
        name = str(frame.get("name", "")) if isinstance(frame, dict) else ""
        metrics = node.get("metrics")
        if isinstance(metrics, dict) and metrics:
            row = _row(name, scope, metrics, log)
            if row is not None:
                rows.append(row)
        inner = scope if name == "ROOT" and not scope else (*scope, name)
        children = node.get("children")
        for child in reversed(children) if isinstance(children, list) else ():
            if isinstance(child, dict):
                stack.append((child, inner))
            else:
                log.add("malformed", "a child is not a node", place=name[:80], lost=1)


def _row(name: str, scope: tuple[str, ...], metrics: dict[str, Any], log: IssueLog) -> ProtonRow | None:
    numbers = {k: v for k, v in metrics.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}
    beyond = [k for k, v in numbers.items() if not abs(v) < _INT64_END]
    if beyond:
        log.add(
            "not-finite", "a metric is not a finite number of 64 bits", place=f"{name[:80]}: {beyond[0][:40]}", lost=1
        )
        return None
    time = numbers.pop(_TIME, None)
    count = numbers.pop("count", None)
    if not count and not time and not numbers:
        return None
    if time is not None and time < 0:
        log.add("negative-duration", "a negative time was left out", place=name[:80], lost=1)
        return None
    device_type, device = metrics.get("device_type"), metrics.get("device_id")
    return ProtonRow(
        name,
        scope,
        None if time is None else round(time),
        None if count is None else int(count),
        None if device_type is None else str(device_type),
        None if device is None else str(device),
        {k: float(v) for k, v in numbers.items()},
    )
