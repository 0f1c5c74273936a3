"""Record the calls of torch's operators on GPU tensors with their shapes, for captures of a whole step."""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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
"""Position of the copied tensor among the arguments, by copy operator."""
_READ = "aten::_local_scalar_dense"
_TO_HOST: ContextVar[bool] = ContextVar("kprof_to_host", default=False)


@contextmanager
def to_host() -> Iterator[None]:
    """Mark copies inside this context as leaving the GPU.

    Torch's arguments do not show this, because every tensor of a recorded program really is on the CPU.
    """
    token = _TO_HOST.set(True)
    try:
        yield
    finally:
        _TO_HOST.reset(token)


_GENERATED = re.compile(r"[/\\]c[a-z2-7]{51}\.py$")
_MODULES = 6
_OPTIMIZERS = "torch/optim/"
_FACTORS = {"aten::mm": 0, "aten::bmm": 0, "aten::_scaled_mm": 0, "aten::addmm": 1, "aten::baddbmm": 1}
"""Position of the left factor among the arguments, by operator of a matrix product."""
_NO_NODE = 1 << 63
"""Minimum sequence number that is not a regular autograd node: gradient accumulators have the largest number."""
_MOST_NODES = 1 << 18


class ForwardModules:
    """The modules that created the nodes of autograd's graph; in the backward pass no module is on the stack."""

    def __init__(self) -> None:
        self._nodes: list[int] = []
        self._modules: list[str] = []

    def remember(self, node: int, module: str) -> None:
        """Record that a module created the node with this number, unless a module is already recorded for the node."""
        if self._nodes and node <= self._nodes[-1]:
            if node == self._nodes[-1]:
                return
            # The numbers are from another thread, which counts separately.
            self._nodes.clear()
            self._modules.clear()
        self._nodes.append(node)
        self._modules.append(module)
        if len(self._nodes) > _MOST_NODES:
            del self._nodes[: _MOST_NODES // 2], self._modules[: _MOST_NODES // 2]

    def of(self, node: int) -> str:
        """Return the modules that created a node, or the last recorded node before it; empty if there is none."""
        at = bisect_right(self._nodes, node) if node < _NO_NODE else 0
        return self._modules[at - 1] if at else ""


_MADE_BY = ForwardModules()


def called(func: Any, args: Any, kwargs: Any, out: Any) -> dict[str, Any]:
    """Return a call for the journal: the operator's name, its arguments in the schema's order, and its results.

    Missing arguments have the schema's defaults. A tensor is an object ``{dtype, shape, strides}``, a list of tensors
    an object ``{dtype, tensors, elements}``.
    """
    schema = func._schema  # noqa: SLF001  # the dispatcher has no public API
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
    if source is not None and len(args) > source:
        if mark_of(args[source]) is None:
            call["host"] = True
        elif mark_of(args[0]) is None or _TO_HOST.get():
            call["to_host"] = True
    elif call["name"] == _READ:
        call["to_host"] = True
    return call


def left_factor(name: str, args: Any) -> int | None:
    """Return the number of the left factor's storage, because products with the same left factor may be joined."""
    at = _FACTORS.get(name)
    if at is None or len(args) <= at:
        return None
    mark = mark_of(args[at])
    return None if mark is None else mark.number


def _value(value: Any) -> Any:
    if isinstance(value, tuple | list) and value and all(hasattr(item, "numel") for item in value):
        kinds = dict.fromkeys(str(item.dtype).removeprefix("torch.") for item in value)
        return {"dtype": next(iter(kinds)), "tensors": len(value), "elements": sum(int(i.numel()) for i in value)}
    return describe.argument(value)


def scope() -> tuple[str, str, tuple[str, int] | None, bool]:
    """Return the phase of a training step, the ``torch.nn`` modules, the source line, and whether the code is compiled.

    The modules are listed outermost first; in the backward pass they are the modules whose gradients are computed. The
    line is the innermost one of the program or of a library other than torch and Python's own, outside of generated
    code. The last value is True if code that ``torch.compile`` generated for that line makes the call.
    """
    phase = BACKWARD if _in_backward() else OUTSIDE
    modules: list[str] = []
    place: tuple[str, int] | None = None
    compiled = False
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  # the call stack is inspected
    while frame is not None:
        if place is None and _is_generated(frame.f_code.co_filename):
            compiled = True
        elif place is None and not describe.is_machinery(frame.f_code):
            place = frame.f_code.co_filename, frame.f_lineno
        kind = _kind(frame.f_code.co_filename, frame.f_code.co_name)
        if kind == OPTIMIZER:
            phase = OPTIMIZER
        elif kind:
            phase = FORWARD if phase == OUTSIDE else phase
            modules.append(type(frame.f_locals.get("self")).__name__)
        frame = frame.f_back
    module = ".".join(modules[::-1][:_MODULES])
    if phase == FORWARD:
        _MADE_BY.remember(_newest_node(), module)
    elif phase == BACKWARD and not module:
        module = _MADE_BY.of(_current_node())
    return phase, module, place, compiled


@lru_cache(maxsize=1 << 14)
def _is_generated(file: str) -> bool:
    """Return whether Inductor generated a file: its files are named by a digest of their text."""
    return _GENERATED.search(file) is not None


def _in_backward() -> bool:
    import torch

    task: Any = torch._C._current_graph_task_id  # noqa: SLF001
    return bool(task() != -1)


def _newest_node() -> int:
    """Return the number of the node that autograd created last: the present call's node, if it created one."""
    import torch

    number: Any = torch.autograd._get_sequence_nr  # type: ignore[attr-defined]  # noqa: SLF001
    return int(number()) - 1


def _current_node() -> int:
    """Return the number of the node whose gradient is being computed."""
    import torch

    node: Any = torch._C._current_autograd_node()  # noqa: SLF001
    return _NO_NODE if node is None else int(node._sequence_nr())  # noqa: SLF001


@lru_cache(maxsize=1 << 14)
def _kind(file: str, function: str) -> str:
    """Return ``module`` for a frame that calls a module's ``forward``, ``optimizer`` for torch's optimizers, or ""."""
    if function == "_call_impl" and file.endswith("torch/nn/modules/module.py"):
        return "module"
    return OPTIMIZER if _OPTIMIZERS in file.replace("\\", "/") else ""


def scope_number(journal: "CaptureJournal") -> int:
    """Return the journal's number for the program's current place in the model."""
    phase, module, place, compiled = scope()
    named = current_range()
    fields = {"phase": phase, "module": module, "range": named, "place": place, "compiled": compiled}
    return journal.number("scope", (phase, module, named, place, compiled), fields)
