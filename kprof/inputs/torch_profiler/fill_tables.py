"""Add batches of events of one kind to their table column by column, which is faster than adding single records."""

from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

from kprof.inputs import boundary
from kprof.inputs.torch_profiler.events import FullArgs, FullEvent
from kprof.inputs.torch_profiler.model import LinkedTrace, Size
from kprof.inputs.torch_profiler.normalise import RANK_OFFSET, Kind, integer, kind_of, rank_of, text
from kprof.inputs.torch_profiler.table_events import (
    MODULE_PREFIX,
    BriefGpuArgs,
    BriefOperatorArgs,
    CompleteEvent,
    FrameArgs,
    GpuArgs,
    LaunchArgs,
    OperatorArgs,
)
from kprof.inputs.torch_profiler.times import nanosecond_column

Events: TypeAlias = list[CompleteEvent] | list[FullEvent]
Values = Sequence[Any]
Integers: TypeAlias = "Values | array[int] | None"
_NUMBER, _TEXT = {int, type(None)}, {str, type(None)}


def add_gpu(trace: LinkedTrace, events: Events) -> None:
    """Add kernels, copies and memsets with valid times."""
    brief = _is_brief(events, BriefGpuArgs)
    of = _Fields(events, BriefGpuArgs() if brief else GpuArgs())
    trace.activities.extend(
        len(events),
        **of.common(),
        kind=of.kinds(),
        device=_first_known(of.integers("device"), of.event["pid"]),
        stream=_first_known(of.integers("stream"), of.event["tid"]),
        correlation=of.correlations(),
        external_id=of.external_ids(),
        workgroup_size=of.sizes("block"),
        grid_as_written=of.sizes("grid"),
        lds_bytes=of.integers("shared_memory"),
        **({} if brief else _gpu_details(of)),
    )


def _is_brief(events: Events, kind: type[msgspec.Struct]) -> bool:
    """Return whether the events' arguments have type ``kind``; all events of a file have the same type of arguments."""
    return next((isinstance(event.args, kind) for event in events if event.args is not None), False)


def _gpu_details(of: "_Fields") -> dict[str, Any]:
    return {
        "bytes": of.integers("bytes"),
        "registers": of.integers("registers"),
        "collective": of.texts("collective"),
        "group": of.texts("group_name"),
        "group_size": of.integers("group_size"),
        "elements": of.integers("in_elements"),
        "element_type": of.texts("element_type"),
    }


def add_launches(trace: LinkedTrace, events: Events) -> None:
    """Add API calls with valid times."""
    of = _Fields(events, LaunchArgs())
    trace.launches.extend(
        len(events),
        **of.common(),
        thread=integers(of.event["tid"]),
        correlation=of.correlations(),
        external_id=of.external_ids(),
        grid=of.sizes("grid"),
        block=of.sizes("block"),
        lds_bytes=of.integers("shared_memory"),
    )


def add_operators(trace: LinkedTrace, events: Events) -> None:
    """Add operators and annotations with valid times."""
    brief = _is_brief(events, BriefOperatorArgs)
    of = _Fields(events, BriefOperatorArgs() if brief else OperatorArgs())
    trace.operators.extend(
        len(events),
        **of.common(),
        kind=of.kinds(),
        thread=integers(of.event["tid"]),
        external_id=of.external_ids(),
        sequence=of.integers("sequence"),
        forward_thread=of.integers("forward_thread"),
        **({} if brief else _shapes(of)),
        kernel_file=of.texts("kernel_file"),
        kernel_hash=of.texts("kernel_hash"),
        num_warps=of.integers("num_warps"),
        num_stages=of.integers("num_stages"),
    )


def _shapes(of: "_Fields") -> dict[str, Any]:
    dims = of.json("input_dims")
    if None in dims:
        dims = [dim or old for dim, old in zip(dims, of.json("input_dims_old"), strict=True)]
    names = of.event["name"]
    needed = {name for name in set(names) if needs_values(name)}
    concrete: list[str | None] | None = None
    if needed:
        values = zip(names, of.arguments["concrete_inputs"], strict=True)
        concrete = [json_text(value) if name in needed else None for name, value in values]
    return {"input_dims": dims, "input_types": of.json("input_types"), "concrete_inputs": concrete}


def add_frames(trace: LinkedTrace, events: Events) -> None:
    """Add Python frames with valid times."""
    of = _Fields(events, FrameArgs())
    trace.frames.extend(
        len(events),
        **of.common(),
        thread=integers(of.event["tid"]),
        module=[name.startswith(MODULE_PREFIX) for name in of.event["name"]],
    )


class _Fields:
    """Fields and arguments of several events as columns; methods return ``None`` for a column without any value."""

    def __init__(self, events: Events, nothing: msgspec.Struct) -> None:
        self._events: Sequence[Any] = events
        self.event = _transposed(events)
        # General events have a category field; for other events, the class determines it.
        self._categories = self.event.get("cat")
        if self._categories is not None:
            nothing = FullArgs()
        self.arguments = _transposed([nothing if args is None else args for args in self.event["args"]])

    def common(self) -> dict[str, Any]:
        """Return the columns that every table has."""
        return {
            "name": self.event["name"],
            "rank": self._ranks(),
            "start_ns": nanosecond_column(self.event["ts"]),
            "duration_ns": nanosecond_column(self.event["dur"]),
        }

    def kinds(self) -> list[Kind]:
        """Return the kind of each event."""
        if self._categories is None:
            return [event.kind for event in self._events]
        return list(map(kind_of, self._categories, self.event["pid"]))

    def _ranks(self) -> list[int | None] | None:
        written, processes = self.arguments["rank"], self.event["pid"]
        numbers = set(processes)
        if _empty(written) and set(map(type, numbers)) == {int} and max(numbers) < RANK_OFFSET:
            return None
        return [rank_of(rank, pid) for rank, pid in zip(written, processes, strict=True)]

    def integers(self, field: str) -> Integers:
        """Return integers, converting text."""
        return integers(self.arguments[field])

    def texts(self, field: str) -> Values | None:
        """Return the values as text."""
        values = self.arguments[field]
        return None if _empty(values) else values if set(map(type, values)) <= _TEXT else list(map(text, values))

    def correlations(self) -> Integers:
        """Return the correlation ids, in which 0 means "none"."""
        ids = self.integers("correlation")
        return ids if ids is None or 0 not in ids else [number or None for number in ids]

    def external_ids(self) -> Integers:
        """Return the external ids; traces of 2021 write 0 for "none"."""
        ids = integers(self.arguments["external_id"])
        if isinstance(ids, array) and 0 not in ids:
            return ids
        return [
            integer(new) or integer(old) or None
            for new, old in zip(self.arguments["external_id"], self.arguments["external_id_old"], strict=True)
        ]

    def json(self, field: str) -> list[str | None]:
        """Return nested values as JSON text."""
        return list(map(_json_text, map(bytes, self.arguments[field])))

    def sizes(self, field: str) -> Sequence[Size | None] | None:
        """Return size triples."""
        values = self.arguments[field]
        if isinstance(values[0], msgspec.Raw):
            return [_size(bytes(value)) for value in values]
        return None if _empty(values) else values


def _transposed(structs: Sequence[Any]) -> dict[str, Values]:
    return dict(
        zip(structs[0].__struct_fields__, zip(*map(msgspec.structs.astuple, structs), strict=True), strict=True)
    )


def _empty(values: Values) -> bool:
    return values[0] is None and values.count(None) == len(values)


def integers(values: Values) -> Integers:
    """Return integers as an array if all are present and fit into 64 bits, ``None`` if all are missing, else a list."""
    if _empty(values):
        return None
    try:
        return array("q", values)
    except (TypeError, OverflowError):
        return values if set(map(type, values)) <= _NUMBER else list(map(integer, values))


def _first_known(values: Integers, others: Values) -> Integers:
    if isinstance(values, array):
        return values
    if values is None:
        return integers(others)
    return [integer(other) if value is None else value for value, other in zip(values, others, strict=True)]


def needs_values(name: str) -> bool:
    """Return whether an operator's work depends on values besides shapes, such as strides, paddings or masks."""
    return "conv" in name or "attention" in name or "_attn" in name


def json_text(raw: msgspec.Raw) -> str | None:
    """Return a nested value as text, or ``None`` if it is empty."""
    # The value is copied, because the raw view would keep its whole block alive.
    return _json_text(bytes(raw))


@lru_cache(maxsize=1 << 14)
def _size(raw: bytes) -> Size | None:
    if not raw:
        return None
    try:
        value = msgspec.json.decode(raw, type=Size)
    except boundary.JSON_ERRORS:
        return None
    return value if all(0 < extent < 1 << 62 for extent in value) else None


@lru_cache(maxsize=1 << 12)
def _json_text(raw: bytes) -> str | None:
    return raw.decode(errors="replace") or None
