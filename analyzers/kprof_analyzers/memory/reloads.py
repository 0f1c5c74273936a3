"""Tiles that are loaded from global memory although they were loaded before."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.addressing import element_bytes, pointer, tile
from kprof_analyzers.memory.dataflow import GLOBAL_STORES, Dataflow, flow_of, global_loads

LEAST_BYTES = 1024
"""What a wavefront fetches at once; smaller tiles are scales and indices."""

_INDUCTION = re.compile(r"^\s*(%[\w$.-]+)\s*=")
_WRITES = (*GLOBAL_STORES, "tt.atomic_rmw", "tt.atomic_cas", "amdg.buffer_atomic_rmw", "amdg.buffer_atomic_cas")
_POINTERS = {"tt.addptr", "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.bitcast", "ttg.convert_layout"}
_PURE = ("arith.", "math.", "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.make_range", "tt.addptr", "tt.bitcast",
         "tt.get_program_id", "tt.get_num_programs", "ttg.convert_layout", "tt.reshape", "tt.trans")  # fmt: skip
_FRESH = ("isVolatile = true", "volatile", "cacheModifier = cv", "cache_modifier = cv")


class Reload(NamedTuple):
    """A load that brings what was there already.

    Attributes:
        load: the load.
        before: the earlier load of the same tile; ``None`` where it is the load itself, an iteration before.
        bytes: of the tile.
    """

    load: Operation
    before: Operation | None
    bytes: int


def reloads(module: Module) -> Iterator[Reload]:
    """Loads in a ``scf.for`` with the same address and mask in each iteration, and loads of one address in one block.

    Left alone are tiles below :data:`LEAST_BYTES`, volatile loads, and memory that the code between, or the loop, may
    write to: where it stores to something that is not distinguished by the kernel's arguments.
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
    """Positions of the first and behind the last operation inside a loop."""
    operations = loop.module.operations
    end = loop.index + 1
    while end < len(operations) and operations[end].depth > loop.depth:
        end += 1
    return loop.index, end


def _is_unchanged(flow: Dataflow, load: Operation, loop: Operation) -> bool:
    """Whether address, mask and the rest of a load are the same in each iteration of the loop around it."""
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
            # An argument or the counter of an outer loop; what any loop carries may change.
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
    """The kernel's argument that a pointer is made from; ``None`` where it is not one alone."""
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
    """Whether anything between two positions may write to what a pointer argument points to."""
    for op in flow.module.named(*_WRITES):
        if first < op.index < last and _base(flow, pointer(op)) in {None, base}:
            return True
    return False
