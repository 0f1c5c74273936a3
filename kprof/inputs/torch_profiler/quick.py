"""Decodes events by category, and only the fields that sums need: no object is created for the others.

A block whose events are all of known categories, complete or instantaneous, is decoded this way; any other one, with
its begins and ends, metadata and oddities, is left to the general types of :mod:`kprof.inputs.torch_profiler.events`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Literal, Union

import msgspec

from kprof.inputs.torch_profiler.events import Loose, SlimArgs
from kprof.inputs.torch_profiler.normalise import KINDS, Kind


class QuickEvent(msgspec.Struct, gc=False, kw_only=True):
    """An event that is only counted. Its class is its category."""

    # Begins and ends have to be paired, and are therefore not decoded this way.
    ph: Literal["X", "i", "I", "s", "t", "f", "b", "n", "e", "C", "N", "O", "D"]

    kind: ClassVar[Kind] = "other"
    category: ClassVar[str] = ""


class QuickHost(msgspec.Struct, gc=False, kw_only=True):
    """An operator or an API call. Times in microseconds as written."""

    ph: Literal["X"]
    name: str = ""
    ts: int | float | None = None
    dur: int | float | None = None

    kind: ClassVar[Kind] = "operator"
    category: ClassVar[str] = ""


class QuickGpu(QuickHost, gc=False, kw_only=True):
    """A kernel, copy or memset."""

    pid: Loose = None
    args: SlimArgs | None = None


AnyQuick = QuickEvent | QuickHost | QuickGpu
_BASES: dict[Kind, type[AnyQuick]] = {
    "kernel": QuickGpu,
    "copy": QuickGpu,
    "memset": QuickGpu,
    "operator": QuickHost,
    "launch": QuickHost,
}
Quick = Callable[[memoryview], list[AnyQuick]]


@cache
def quick_decoder() -> Quick:
    """Decodes a list of events; raises msgspec's errors when one of them is not of the known kind."""
    made: list[Any] = []
    # 2021's traces write "Kernel" and "Operator".
    for category in dict.fromkeys(spelling for name in KINDS for spelling in (name, name.capitalize()) if name):
        kind = KINDS[category.lower()]
        base = _BASES.get(kind, QuickEvent)
        made.append(
            msgspec.defstruct(
                f"Quick_{category}",
                [],
                bases=(base,),
                namespace={"kind": kind, "category": category, "__doc__": base.__doc__},
                gc=False,
                tag_field="cat",
                tag=category,
            )
        )
    decode: Quick = msgspec.json.Decoder(list[Union[tuple(made)]]).decode  # type: ignore[misc]  # noqa: UP007 - from a list
    return decode
