"""Calls of torch's operators on tensors of the GPU, each with its shapes, where a whole step is asked for."""

import sys
from functools import lru_cache
from types import FrameType
from typing import TYPE_CHECKING, Any

from kprof.recording import describe
from kprof.recording.device_marks import mark_of
from kprof.recording.named_ranges import current_range

if TYPE_CHECKING:
    from kprof.recording.journal import CaptureJournal

FORWARD, BACKWARD, OPTIMIZER, OUTSIDE = "forward", "backward", "optimizer", "outside modules"

_SOURCES = {"aten::_to_copy": 0, "aten::copy_": 1}
"""Copies to the position of what is copied."""
_MODULES = 6
_OPTIMIZERS = "torch/optim/"


def called(func: Any, args: Any, kwargs: Any, out: Any) -> dict[str, Any]:
    """A call as a journal holds it: the operator's name, its arguments in the schema's order, and its results.

    What was not given has the schema's default. A tensor is an object ``{dtype, shape, strides}``, a list of tensors
    an object ``{dtype, tensors, elements}``.
    """
    schema = func._schema  # noqa: SLF001  # the dispatcher has no public door
    given = []
    for at, wanted in enumerate(schema.arguments):
        if at < len(args):
            value = args[at]
        else:
            value = kwargs.get(wanted.name, wanted.default_value if wanted.has_default_value() else None)
        given.append(_value(value))
    results = out if isinstance(out, tuple | list) else (out,)
    call: dict[str, Any] = {"name": str(schema.name), "inputs": given, "outputs": [_value(one) for one in results]}
    source = _SOURCES.get(call["name"])
    if source is not None and len(args) > source and mark_of(args[source]) is None:
        call["host"] = True
    return call


def _value(value: Any) -> Any:
    if isinstance(value, tuple | list) and value and all(hasattr(item, "numel") for item in value):
        kinds = dict.fromkeys(str(item.dtype).removeprefix("torch.") for item in value)
        return {"dtype": next(iter(kinds)), "tensors": len(value), "elements": sum(int(i.numel()) for i in value)}
    return describe.argument(value)


def scope() -> tuple[str, str]:
    """Which part of a training step the program is in, and the ``torch.nn`` modules that it is in, outermost first."""
    phase = BACKWARD if _in_backward() else OUTSIDE
    modules: list[str] = []
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  # the stack is what is asked for
    while frame is not None:
        kind = _kind(frame.f_code.co_filename, frame.f_code.co_name)
        if kind == OPTIMIZER:
            phase = OPTIMIZER
        elif kind:
            phase = FORWARD if phase == OUTSIDE else phase
            modules.append(type(frame.f_locals.get("self")).__name__)
        frame = frame.f_back
    return phase, ".".join(modules[::-1][:_MODULES])


def _in_backward() -> bool:
    import torch

    task: Any = torch._C._current_graph_task_id  # noqa: SLF001
    return bool(task() != -1)


@lru_cache(maxsize=1 << 14)
def _kind(file: str, function: str) -> str:
    """``module`` for the frame that calls a module's ``forward``, ``optimizer`` for those of torch's optimizers."""
    if function == "_call_impl" and file.endswith("torch/nn/modules/module.py"):
        return "module"
    return OPTIMIZER if _OPTIMIZERS in file.replace("\\", "/") else ""


def scope_number(journal: "CaptureJournal") -> int:
    """The number of the place in the model that the program is in."""
    phase, module = scope()
    named = current_range()
    return journal.number("scope", (phase, module, named), {"phase": phase, "module": module, "range": named})
