"""The events of a trace's summary: a class for each category, with only the fields that its sums need.

msgspec then creates no object for anything else. A block is decoded this way when all its events are of known
categories and complete or instantaneous. Others (begin and end events, metadata, damage) need the general types of
:mod:`kprof.inputs.torch_profiler.events`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Literal, Union

import msgspec

from kprof.inputs.torch_profiler.events import Loose, SlimArgs
from kprof.inputs.torch_profiler.normalise import KINDS, Kind


class CountedEvent(msgspec.Struct, gc=False, kw_only=True):
    """An event that is only counted. Its class is its category."""

    # No B and E: begin and end events have to be paired first.
    ph: Literal["X", "i", "I", "s", "t", "f", "b", "n", "e", "C", "N", "O", "D"]

    several_phases: ClassVar[bool] = True
    kind: ClassVar[Kind] = "other"
    cat: ClassVar[str] = ""
    pid: ClassVar[None] = None


class HostInterval(msgspec.Struct, gc=False, kw_only=True):
    """An operator or an API call. Times in microseconds as written."""

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
    """A decoder of lists of events; it raises msgspec's errors for a list with an event of no known category."""
    made: list[Any] = []
    # 2021's traces write "Kernel" and "Operator".
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
