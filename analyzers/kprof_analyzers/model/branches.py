"""Find the workgroups that reach an operation, that is, neither return before it nor take another branch."""

import re

from kprof.inputs.mlir import Operation
from kprof_analyzers.model.values import Value, ValueContext

_BLOCK = re.compile(r"\^[\w$.-]+")


def alive(evaluator: ValueContext, op: Operation) -> list[int] | None:
    """Return 1 for each workgroup that reaches an operation and 0 for the others; ``None`` if all reach it.

    Branches inside loops are ignored, because they may be taken in some iterations only. Branches with an unknown
    condition count as taken.
    """
    operations = evaluator.module.operations
    found = [True] * len(evaluator.programs)
    inner = op
    while inner.parent is not None:
        outer = operations[inner.parent]
        if outer.name == "tt.func":
            reached = _workgroups_reaching(evaluator, outer, inner)
            if reached is not None:
                found = [a and b for a, b in zip(found, reached, strict=True)]
        elif outer.name == "scf.if" and outer.loop is None:
            condition = evaluator.certain(evaluator.flow.inputs(outer)[0])
            wanted = inner.region == 0
            found = [a and b == wanted for a, b in zip(found, _truths(condition, len(found), wanted), strict=True)]
        inner = outer
    return None if all(found) else list(map(int, found))


def _workgroups_reaching(evaluator: ValueContext, function: Operation, op: Operation) -> list[bool] | None:
    """Return for each workgroup whether it reaches the block of an operation; ``None`` if all do.

    Code after ``if ...: return`` is a separate block.
    """
    if not op.block:
        return None
    size = len(evaluator.programs)
    every = [True] * size
    found = {"": every}
    # Only branches before the operation are considered; conditions of later ones may depend on the operation.
    for branch in evaluator.module.operations[function.index : op.index]:
        if branch.name not in {"cf.cond_br", "cf.br"} or branch.parent != function.index:
            continue
        here = found.get(branch.block)
        targets = _BLOCK.findall(branch.text)
        condition = evaluator.certain(evaluator.flow.inputs(branch)[0]) if branch.name == "cf.cond_br" else 1
        for wanted, target in zip((True, False), targets, strict=False):
            going = [False] * size if here is None else _going(here, condition, every, wanted=wanted)
            before = found.get(target)
            found[target] = going if before is None else [a or b for a, b in zip(before, going, strict=True)]
    reached = found.get(op.block, every)
    return None if reached is every else reached


def _going(here: list[bool], condition: Value | None, every: list[bool], *, wanted: bool) -> list[bool]:
    """Return for each workgroup whether it reaches a branch (``here``) and its condition has the value ``wanted``."""
    if condition is None:
        return here
    truths = _truths(condition, len(here), wanted)
    if here is every:
        return truths if wanted else [not b for b in truths]
    return [a and b == wanted for a, b in zip(here, truths, strict=True)]


def _truths(condition: Value | None, size: int, unknown: bool) -> list[bool]:
    if condition is None:
        return [unknown] * size
    return [bool(condition)] * size if isinstance(condition, int) else list(map(bool, condition))
