"""Event classes for filling the linked tables; they have more fields than those of ``summary_events``.

Most of a trace consists of Python frames, of which only module frames are kept by default. If the text of a block
contains no ``nn.Module``, its frames are skipped without decoding their names.
"""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Union

import msgspec

from kprof.inputs.torch_profiler.events import FullArgs, Loose
from kprof.inputs.torch_profiler.normalise import KINDS, Kind
from kprof.inputs.torch_profiler.summary_events import CountedEvent

MODULE_PREFIX = "nn.Module: "
# Mark of a module's frame: the beginning of its name. The quotation mark is included because searching for a longer
# text is faster.
_MODULE_MARK = b'"' + MODULE_PREFIX.encode()
# A block that contains a backslash counts as having the mark, because a name may spell the mark with escapes.
_BACKSLASH = ord("\\")
# Number of blocks after a block with the mark that are not searched, because they probably contain it too.
_UNSEARCHED = 15

_GPU_ARGS = (
    "device", "stream", "rank", "correlation", "external_id", "external_id_old", "grid", "block", "bytes",
    "shared_memory", "registers", "collective", "group_size", "group_name", "in_elements", "element_type",
)  # fmt: skip
_LAUNCH_ARGS = ("rank", "correlation", "external_id", "external_id_old", "grid", "block", "shared_memory")
_OPERATOR_ARGS = (
    "rank", "external_id", "external_id_old", "sequence", "forward_thread", "input_dims", "input_dims_old",
    "input_types", "concrete_inputs", "kernel_file", "kernel_hash", "num_warps", "num_stages",
)  # fmt: skip
_Extent = Annotated[int, msgspec.Meta(gt=0, lt=1 << 62)]


class CompleteEvent(msgspec.Struct, gc=False, kw_only=True):
    """An event that a table stores. Times are microseconds as written; ``args`` depends on the event's kind."""

    ph: Literal["X"]
    name: str = ""
    ts: int | float | None = None
    dur: int | float | None = None
    pid: Loose = None
    tid: Loose = None

    several_phases: ClassVar[bool] = False
    kind: ClassVar[Kind] = "other"
    cat: ClassVar[str] = ""
    args: Any


DETAILS = frozenset(
    {
        "input_dims", "input_dims_old", "input_types", "concrete_inputs",
        "bytes", "registers", "collective", "group_size", "group_name", "in_elements", "element_type",
    }
)  # fmt: skip
"""Arguments that are needed only for shapes and collectives. Of all fields, shapes take the longest to decode."""


def _subset(name: str, wanted: tuple[str, ...]) -> type[msgspec.Struct]:
    """Create a type with the wanted arguments of :class:`FullArgs`; it accepts only sizes with three extents."""
    fields = {field.name: field for field in msgspec.structs.fields(FullArgs)}
    sizes = dict.fromkeys(("grid", "block"), (tuple[_Extent, _Extent, _Extent] | None, None))
    return msgspec.defstruct(
        name,
        [(each, *sizes.get(each, (fields[each].type, fields[each].default))) for each in wanted],
        rename={each: fields[each].encode_name for each in wanted},
        namespace={"__doc__": "Arguments of one kind of events."},
        gc=False,
    )


GpuArgs = _subset("GpuArgs", _GPU_ARGS)
LaunchArgs = _subset("LaunchArgs", _LAUNCH_ARGS)
OperatorArgs = _subset("OperatorArgs", _OPERATOR_ARGS)
BriefGpuArgs = _subset("BriefGpuArgs", tuple(name for name in _GPU_ARGS if name not in DETAILS))
BriefOperatorArgs = _subset("BriefOperatorArgs", tuple(name for name in _OPERATOR_ARGS if name not in DETAILS))
FrameArgs = _subset("FrameArgs", ("rank",))
_ARGS: dict[Kind, type[msgspec.Struct]] = {
    "kernel": GpuArgs,
    "copy": GpuArgs,
    "memset": GpuArgs,
    "launch": LaunchArgs,
    "operator": OperatorArgs,
    "annotation": OperatorArgs,
    "python": FrameArgs,
}
_BRIEF: dict[Kind, type[msgspec.Struct]] = {
    "kernel": BriefGpuArgs,
    "copy": BriefGpuArgs,
    "memset": BriefGpuArgs,
    "operator": BriefOperatorArgs,
    "annotation": BriefOperatorArgs,
}
TableEvent = CountedEvent | CompleteEvent
TableDecoder = Callable[[memoryview], list[TableEvent]]


def table_decoder(*, stacks: bool, details: bool = True) -> TableDecoder:
    """Return a decoder for lists of events; it raises msgspec's errors for an unknown category or phase.

    Args:
        stacks: whether Python frames other than modules are needed. If false, the decoder may still return them.
        details: whether to decode the arguments in :data:`DETAILS`.
    """
    return _decoder(frames=True, details=details) if stacks else _SkipsFrames(details=details)


class _SkipsFrames:
    def __init__(self, *, details: bool) -> None:
        self._details = details
        self._unsearched = 0

    def __call__(self, data: memoryview) -> list[TableEvent]:
        """Decode the events of a block; skip the fields of its Python frames if it contains no module's frame."""
        buffer: Any = data.obj
        frames = True
        if self._unsearched:
            self._unsearched -= 1
        elif _BACKSLASH in buffer or _MODULE_MARK in buffer:
            self._unsearched = _UNSEARCHED
        else:
            frames = False
        # Decoders are created on first use, because small traces need only one of the two.
        return _decoder(frames=frames, details=self._details)(data)


@cache
def _decoder(*, frames: bool, details: bool) -> TableDecoder:
    # Traces of 2021 write "Kernel" and "Operator".
    categories = dict.fromkeys(spelling for name in KINDS for spelling in (name, name.capitalize()) if name)
    arguments = _ARGS if details else _ARGS | _BRIEF
    made: list[Any] = [
        _class_of(category, KINDS[category.lower()], arguments, frames=frames) for category in categories
    ]
    decode: TableDecoder = msgspec.json.Decoder(list[Union[tuple(made)]]).decode  # type: ignore[misc]  # noqa: UP007 - from a list
    return decode


def _class_of(
    category: str, kind: Kind, arguments: dict[Kind, type[msgspec.Struct]], *, frames: bool
) -> type[TableEvent]:
    fields: list[Any] = []
    base: type[TableEvent] = CountedEvent
    several = False
    if kind in arguments and (frames or kind != "python"):
        base = CompleteEvent
        fields.append(("args", arguments[kind] | None, None))
    elif kind in {"memory", "python"}:
        # Only events of this phase are accepted; other phases need the general types.
        fields.append(("ph", Literal["i" if kind == "memory" else "X"]))
    else:
        several = True
    return msgspec.defstruct(  # type: ignore[return-value]
        f"Table_{category}",
        fields,
        bases=(base,),
        namespace={"kind": kind, "cat": category, "several_phases": several, "__doc__": base.__doc__},
        gc=False,
        kw_only=True,
        tag_field="cat",
        tag=category,
    )
