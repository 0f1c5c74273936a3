"""Event classes for summaries: one class per category, with only the fields that its sums need.

The decoder (msgspec) then creates no objects for other fields. A block is decoded with these classes if all its events
have a known category and are complete or instant events. Blocks with begin or end events, metadata or damage are
decoded with the general types of :mod:`kprof.inputs.torch_profiler.events`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Literal, Union

import msgspec

from kprof.inputs.torch_profiler.events import Loose, SlimArgs
from kprof.inputs.torch_profiler.normalise import KINDS, Kind


class CountedEvent(msgspec.Struct, gc=False, kw_only=True):
    """An event that is only counted; its class determines its category."""

    # Phases B and E are not in the list, because begin and end events must be paired first.
    ph: Literal["X", "i", "I", "s", "t", "f", "b", "n", "e", "C", "N", "O", "D"]

    several_phases: ClassVar[bool] = True
    kind: ClassVar[Kind] = "other"
    cat: ClassVar[str] = ""
    pid: ClassVar[None] = None


class HostInterval(msgspec.Struct, gc=False, kw_only=True):
    """An operator or an API call, with times in microseconds as written."""

    ph: Literal["X"]
    name: str = ""
    ts: int | float | None = None
    dur: int | float | None = None

    kind: ClassVar[Kind] = "operator"
    cat: ClassVar[str] = ""


class GpuInterval(HostInterval, gc=False, kw_only=True):
    """A kernel, copy or memset."""

    pid: Loose = None
    args: SlimArgs | None = None


SummaryEvent = CountedEvent | HostInterval | GpuInterval
_BASES: dict[Kind, type[SummaryEvent]] = {
    "kernel": GpuInterval,
    "copy": GpuInterval,
    "memset": GpuInterval,
    "operator": HostInterval,
    "launch": HostInterval,
}
SummaryDecoder = Callable[[memoryview], list[SummaryEvent]]


@cache
def summary_decoder() -> SummaryDecoder:
    """Return a decoder for lists of events; it raises msgspec's errors for an event of an unknown category."""
    made: list[Any] = []
    # Traces of 2021 write "Kernel" and "Operator".
    for category in dict.fromkeys(spelling for name in KINDS for spelling in (name, name.capitalize()) if name):
        kind = KINDS[category.lower()]
        base = _BASES.get(kind, CountedEvent)
        made.append(
            msgspec.defstruct(
                f"Summary_{category}",
                [],
                bases=(base,),
                namespace={"kind": kind, "cat": category, "__doc__": base.__doc__},
                gc=False,
                tag_field="cat",
                tag=category,
            )
        )
    decode: SummaryDecoder = msgspec.json.Decoder(list[Union[tuple(made)]]).decode  # type: ignore[misc]  # noqa: UP007 - from a list
    return decode
