"""Strides that the launch does not tell, where what an access costs depends on them."""

from collections.abc import Iterator

from kprof.analysis import KernelFacts
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import strides
from kprof_analyzers.memory.dataflow import GLOBAL_STORES, is_load


def unknown_strides(facts: KernelFacts) -> list[str]:
    """One sentence that names them, or none: elements whose distance is not known are taken to lie side by side.

    Where one axis of a tile is known to be contiguous, the other's stride changes little.
    """
    if facts.ttgir is None:
        return []
    names = sorted({name for op in facts.ttgir.operations for name in _names(op, facts)})
    if not names:
        return []
    said = f"strides {', '.join(names)} are" if len(names) > 1 else f"stride {names[0]} is"
    return [f"the {said} not known: elements are taken to lie side by side"]


def _names(op: Operation, facts: KernelFacts) -> Iterator[str]:
    if not is_load(op) and op.name not in GLOBAL_STORES:
        return
    steps = [step for step in (strides(op) or {}).values() if step is not None]
    values = [step.value(facts.arguments) for step in steps]
    if None not in values or any(value is not None and abs(value) == 1 for value in values):
        return
    for step in steps:
        yield from (name for name in step.symbols if name not in facts.arguments)
