"""Find tiles that are loaded from global memory more than once."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.addressing import element_bytes, pointer, tile
from kprof_analyzers.memory.dataflow import GLOBAL_STORES, Dataflow, flow_of, global_loads

LEAST_BYTES = 1024
"""Minimum bytes of a reported tile, which a wavefront loads at once. Smaller tiles are scales and indices."""

_INDUCTION = re.compile(r"^\s*(%[\w$.-]+)\s*=")
_WRITES = (*GLOBAL_STORES, "tt.atomic_rmw", "tt.atomic_cas", "amdg.buffer_atomic_rmw", "amdg.buffer_atomic_cas")
_POINTERS = {"tt.addptr", "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.bitcast", "ttg.convert_layout"}
_PURE = ("arith.", "math.", "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.make_range", "tt.addptr", "tt.bitcast",
         "tt.get_program_id", "tt.get_num_programs", "ttg.convert_layout", "tt.reshape", "tt.trans")  # fmt: skip
_FRESH = ("isVolatile = true", "volatile", "cacheModifier = cv", "cache_modifier = cv")


class Reload(NamedTuple):
    """A load of a tile that has been loaded before.

    Attributes:
        load: the load.
        before: the earlier load of the same tile; ``None`` if it is the same load in the previous iteration.
        bytes: size of the tile.
    """

    load: Operation
    before: Operation | None
    bytes: int


def reloads(module: Module) -> Iterator[Reload]:
    """Yield loads in a ``scf.for`` whose address and mask never change, and repeated loads of an address in one block.

    Volatile loads and tiles below :data:`LEAST_BYTES` are skipped. A load is also skipped if its memory may be written
    in the loop, or between the two loads: by any store except those through another kernel argument.
    """
    flow = flow_of(module)
    seen: dict[tuple[object, ...], Operation] = {}
    for load in global_loads(module):
        size = _bytes(load)
        base = _base(flow, pointer(load))
        if size < LEAST_BYTES or base is None or any(word in load.text for word in _FRESH):
            continue
        key = (load.name, flow.inputs(load), load.parent, load.region, load.block, str(tile(load)))
        before = seen.get(key)
        seen.setdefault(key, load)
        if before is not None and not _written(flow, base, before.index, load.index):
            yield Reload(load, before, size)
            continue
        loop = None if load.loop is None else module.operations[load.loop]
        if loop is not None and _is_unchanged(flow, load, loop) and not _written(flow, base, *_span(loop)):
            yield Reload(load, None, size)


def _bytes(load: Operation) -> int:
    held, size = tile(load), element_bytes(load)
    return held.elements * size if held is not None and size else 0


def _span(loop: Operation) -> tuple[int, int]:
    """Return the index of a loop, and the index after the last operation in the loop."""
    operations = loop.module.operations
    end = loop.index + 1
    while end < len(operations) and operations[end].depth > loop.depth:
        end += 1
    return loop.index, end


def _is_unchanged(flow: Dataflow, load: Operation, loop: Operation) -> bool:
    """Return whether a load has the same address, mask and other operands in each iteration of its loop."""
    if loop.name != "scf.for":
        return False
    induction = _INDUCTION.match(loop.text)
    if induction is None:
        return False
    pending = list(flow.inputs(load))
    done = set(pending)
    while pending:
        value = pending.pop()
        op = flow.producer(value)
        if op is None:
            # Arguments and counters of outer loops are constant in this loop, but any loop-carried value may change.
            if value.partition("@")[0] == induction.group(1) or flow.initial(value) is not None or "@" in value:
                return False
            continue
        if op.index < loop.index:
            continue
        if not op.name.startswith(_PURE):
            return False
        pending += [one for one in flow.inputs(op) if one not in done]
        done.update(flow.inputs(op))
    return True


def _base(flow: Dataflow, value: str | None) -> str | None:
    """Return the kernel argument that a pointer is derived from, or ``None`` if it is not exactly one argument."""
    while value is not None:
        op = flow.producer(value)
        if op is None:
            initial = flow.initial(value)
            if initial is None:
                return value
            value = initial
        elif op.name in _POINTERS:
            value = flow.input(op, 0)
        else:
            return None
    return None


def _written(flow: Dataflow, base: str, first: int, last: int) -> bool:
    """Return whether any operation between two positions may write to the memory of a pointer argument."""
    for op in flow.module.named(*_WRITES):
        if first < op.index < last and _base(flow, pointer(op)) in {None, base}:
            return True
    return False
