"""Find operands of matrix products that must be transposed through LDS."""

from collections.abc import Iterator
from dataclasses import dataclass

from kprof.analysis import KernelFacts
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import strides, tile
from kprof_analyzers.memory.dataflow import flow_of, is_load
from kprof_analyzers.memory.lds_access import LdsAccess, lds_accesses, transposed_lines
from kprof_analyzers.source_lines import location_of

_NARROW = 4
_ENOUGH = 16


@dataclass(frozen=True)
class TransposedOperandUse:
    """Operand of a matrix product that is transposed through LDS.

    Attributes:
        operand: index of the operand, 0 or 1.
        load: the load from global memory that the operand comes from.
        access: the narrow LDS access.
        contiguous: axis of the loaded tile along which memory is contiguous.
        lines: file and line of the operand's LDS accesses.
    """

    operand: int
    load: Operation
    access: LdsAccess
    contiguous: int
    lines: frozenset[tuple[str, int]]


def transposed_operands(facts: KernelFacts) -> Iterator[TransposedOperandUse]:
    """Yield the operands of products in loops that are not contiguous along K in memory; their LDS access is narrow."""
    if facts.ttgir is None:
        return
    flow = flow_of(facts.ttgir)
    accesses = {access.operation.index: access for access in lds_accesses(facts.ttgir, facts.arch)}
    by_hardware = transposed_lines(facts.program)
    for dot in facts.ttgir.named("tt.dot", "tt.dot_scaled"):
        if dot.loop is None or len(flow.inputs(dot)) < 2:
            continue
        for position in (0, 1):
            # Follow the operand back, but not beyond the result of another product.
            path = list(flow.back(flow.inputs(dot)[position], stop=lambda o: o.name.startswith("tt.dot"), memory=True))
            own = [accesses[op.index] for op in path if op.index in accesses]
            narrow = max((a for a in own if _weight(a) >= _ENOUGH), key=_weight, default=None)
            load = max((op for op in path if is_load(op)), key=_elements, default=None)
            lines = frozenset(_source_line(op.operation) for op in own)
            if narrow is None or load is None or lines & by_hardware:
                continue
            axis = _contiguous(load)
            turned = sum(op.name in {"tt.trans", "ttg.memdesc_trans"} for op in path) % 2
            if axis is None or axis ^ turned == 1 - position:
                continue
            yield TransposedOperandUse(position, load, narrow, axis, lines)


def _weight(access: LdsAccess) -> int:
    """Return the number of narrow LDS instructions. Accesses below 4 bytes count twice, because results are merged."""
    return access.instructions * (2 if access.width < _NARROW else 1) if access.width <= _NARROW else 0


def _elements(load: Operation) -> int:
    """Return the number of elements of a loaded tile, which distinguishes it from smaller loads of scales."""
    held = tile(load)
    return held.elements if held is not None else 0


def _contiguous(load: Operation) -> int | None:
    """Return the tile axis that is contiguous in memory, or ``None`` if unknown or if the tile is not 2-D."""
    held, found = tile(load), strides(load) or {}
    if held is None or len(held.shape) != 2:
        return None
    return next((axis for axis, step in found.items() if step is not None and step.value({}) == 1), None)


def _source_line(op: Operation) -> tuple[str, int]:
    place = location_of(op)[0]
    return (place.file, place.line) if place is not None else ("", 0)
