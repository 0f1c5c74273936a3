"""The two sides of a branch exclude each other: where its condition is not known, what one of them moves counts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kprof.inputs.mlir import Operation
from kprof_analyzers.model.entries import Branch
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.traffic import Access


def one_side(found: Sequence[Access], evaluator: Evaluator, come_to: Mapping[int, float]) -> list[Access]:
    """The same accesses, none of them done on the side of such a branch that moves fewer bytes.

    Args:
        found: accesses of a kernel.
        evaluator: knows the conditions of branches outside of loops.
        come_to: operations that not every iteration comes to; how often they are done is known.
    """
    moved: dict[Branch, float] = defaultdict(float)
    sides = [list(_sides(a.operation, evaluator)) if a.operation.index not in come_to else [] for a in found]
    for access, mine in zip(found, sides, strict=True):
        for side in mine:
            moved[side] += access.tile_bytes * access.times
    return [
        replace(access, times=0.0) if any(_is_less(side, moved) for side in mine) else access
        for access, mine in zip(found, sides, strict=True)
    ]


def _is_less(side: Branch, moved: Mapping[Branch, float]) -> bool:
    """Whether a side moves fewer bytes than the other; of equal ones it is the second."""
    number, region = side
    other = moved.get((number, 1 - region), 0.0)
    return moved[side] < other or (moved[side] == other and region == 1)


def _sides(op: Operation, evaluator: Evaluator) -> Iterator[Branch]:
    """Sides of branches around an operation whose conditions are not known for each workgroup."""
    inner = op
    while inner.parent is not None:
        outer = op.module.operations[inner.parent]
        if outer.name == "scf.if":
            known = outer.loop is None and evaluator.certain(evaluator.flow.inputs(outer)[0]) is not None
            if not known:
                yield outer.index, inner.region
        inner = outer
