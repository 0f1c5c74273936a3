"""Tell whether a kernel covers its data with several tiles along an axis: by the grid, or by a loop.

If neither does, each workgroup needs the whole axis in one tile, and a smaller tile leaves elements out.
"""

import re

from kprof.inputs.mlir import Module, Operation, TensorType
from kprof_analyzers.memory.addressing import constant
from kprof_analyzers.memory.dataflow import flow_of

_REDUCTIONS = ("tt.reduce", "tt.scan")
_AXIS = re.compile(r"\baxis = (\d+)")


def grid_divides(module: Module, size: int) -> bool:
    """Return whether a kernel multiplies a program identifier by a tile size, and does not reduce along the tile.

    A softmax with one workgroup per row needs the whole row in one tile: with a smaller tile, its results are wrong.

    Args:
        module: the kernel's TTGIR.
        size: elements of the tile along the axis.
    """
    multiplies = any(True for _ in module.named("tt.dot", "tt.dot_scaled"))
    if not multiplies and any(_reduced(op) == size for op in module.named(*_REDUCTIONS) if op.loop is None):
        return False
    return any(_numbers_workgroups(op, size) for op in module.named("arith.muli"))


def tiles_advance(module: Module, size: int) -> bool:
    """Return whether the grid or a loop moves a tile of this size along its axis.

    A loop's step, its number of iterations, or the offset that it adds to a pointer then contains the tile size.

    Args:
        module: the kernel's TTGIR.
        size: elements of the tile along the axis.
    """
    if grid_divides(module, size):
        return True
    flow = flow_of(module)
    for op in module.operations:
        if op.name == "arith.constant" or _numbers_workgroups(op, size):
            continue
        factors = (flow.producer(value) for value in flow.inputs(op))
        if any(factor is not None and constant(factor) == size for factor in factors):
            return True
    return False


def _numbers_workgroups(op: Operation, size: int) -> bool:
    """Return whether an operation multiplies a tile size by a number that depends on the program identifier."""
    if op.name != "arith.muli":
        return False
    flow = flow_of(op.module)
    for number, other in ((0, 1), (1, 0)):
        factor = flow.producer(flow.input(op, other))
        if factor is None or constant(factor) != size:
            continue
        if any(source.name == "tt.get_program_id" for source in flow.back(flow.input(op, number))):
            return True
    return False


def _reduced(op: Operation) -> int | None:
    """Return the length of the axis that a reduction or scan runs along; ``None`` if unknown."""
    flow = flow_of(op.module)
    axis, source = _AXIS.search(op.text), flow.producer(flow.input(op, 0))
    types = source.result_types if source is not None else ()
    held = types[0] if types and isinstance(types[0], TensorType) else None
    if axis is None or held is None or int(axis[1]) >= len(held.shape):
        return None
    return held.shape[int(axis[1])]
