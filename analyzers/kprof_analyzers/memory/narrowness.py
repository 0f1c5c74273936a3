"""Why a load from global memory is narrow, as far as its TTGIR tells."""

import re

from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import address, element_bytes, strides
from kprof_analyzers.memory.dataflow import argument, arguments, flow_of

_DIVISIBLE = re.compile(r"%([\w$.-]+): [^{,]*\{[^}]*tt\.divisibility = (\d+)")
# What a tile's number is computed with says nothing of the tile's first address, which is a multiple of its size.
_ENDS = ("arith.divsi", "arith.remsi", "arith.minsi", "arith.maxsi", "tt.load", "tt.make_range")
_ALIGNED = 16


def reason_for(load: Operation) -> str | None:
    """One clause that says why; ``None`` when nothing can be said for sure.

    In this order: no axis is contiguous in memory; a pointer or a stride is not known to be a multiple of 16; the mask
    changes inside what could be one access.
    """
    found, size = strides(load), element_bytes(load)
    if found and all(step is not None and step.value({}) != 1 for step in found.values()):
        steps = ", ".join(str(step) for step in found.values())
        return f"no axis is contiguous in memory (steps of {steps} elements)"
    if size is not None and size >= _ALIGNED:
        return None
    lacking = _not_divisible(load)
    if lacking:
        verb = "are" if len(lacking) > 1 else "is"
        return f"{' and '.join(lacking)} {verb} not known to be a multiple of {_ALIGNED}"
    mask = _mask(load)
    if mask is not None and _varies(load, mask):
        return "its mask may change inside 16 bytes"
    return None


def _not_divisible(load: Operation) -> list[str]:
    """Arguments in the address that have no divisibility, in the order of the signature."""
    flow = flow_of(load.module)
    function = next(iter(load.module.functions), None)
    value = address(load)
    if function is None or value is None:
        return []
    divisible = {name for name, by in _DIVISIBLE.findall(function.text) if int(by) % _ALIGNED == 0}
    roots = {argument(root) for start in (value, *flow.inputs(load)[:1]) for root in flow.roots(start, _ENDS)}
    return [name for name in arguments(load.module) if name in roots and name not in divisible]


def _mask(load: Operation) -> str | None:
    """The mask: the first operand behind the address."""
    values, where = flow_of(load.module).inputs(load), address(load)
    at = values.index(where) + 1 if where in values else len(values)
    return values[at] if at < len(values) else None


def _varies(load: Operation, mask: str) -> bool:
    """Whether a mask depends on the position along the tile: one that a scalar decides does not."""
    flow = flow_of(load.module)
    return any(op.name == "tt.make_range" for op in flow.back(mask))
