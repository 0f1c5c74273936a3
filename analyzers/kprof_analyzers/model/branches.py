"""Which workgroups come to an operation: those that have returned before, or took the other branch, do not."""

import re

from kprof.inputs.mlir import Operation
from kprof_analyzers.model.values import Evaluation, Value

_BLOCK = re.compile(r"\^[\w$.-]+")


def alive(evaluator: Evaluation, op: Operation) -> list[int] | None:
    """1 for each workgroup that comes to an operation, 0 for the others; ``None`` where all do.

    Branches inside of loops are left out: they may be taken in some iterations. Those of unknown conditions are taken.
    """
    operations = evaluator.module.operations
    found = [True] * len(evaluator.programs)
    inner = op
    while inner.parent is not None:
        outer = operations[inner.parent]
        if outer.name == "tt.func":
            reached = _reached(evaluator, outer, inner)
            found = [a and b for a, b in zip(found, reached, strict=True)]
        elif outer.name == "scf.if" and outer.loop is None:
            condition = evaluator.certain(evaluator.flow.inputs(outer)[0])
            wanted = inner.region == 0
            found = [a and b == wanted for a, b in zip(found, _truths(condition, len(found), wanted), strict=True)]
        inner = outer
    return None if all(found) else list(map(int, found))


def _reached(evaluator: Evaluation, function: Operation, op: Operation) -> list[bool]:
    """Which workgroups come to the block that holds an operation: what follows ``if ...: return`` is one of its own."""
    size = len(evaluator.programs)
    found = {"": [True] * size}
    # Branches further down may depend on the operation.
    for branch in evaluator.module.operations[function.index : op.index] if op.block else ():
        if branch.parent != function.index or branch.name not in {"cf.cond_br", "cf.br"}:
            continue
        here = found.get(branch.block, [False] * size)
        targets = _BLOCK.findall(branch.text)
        condition = evaluator.certain(evaluator.flow.inputs(branch)[0]) if branch.name == "cf.cond_br" else 1
        for wanted, target in zip((True, False), targets, strict=False):
            going = [a and b == wanted for a, b in zip(here, _truths(condition, size, wanted), strict=True)]
            found[target] = [a or b for a, b in zip(found.get(target, [False] * size), going, strict=True)]
    return found.get(op.block, [True] * size)


def _truths(condition: Value | None, size: int, unknown: bool) -> list[bool]:
    if condition is None:
        return [unknown] * size
    return [bool(condition)] * size if isinstance(condition, int) else list(map(bool, condition))
