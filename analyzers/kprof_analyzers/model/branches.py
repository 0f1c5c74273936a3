"""Find the workgroups that reach an operation, and do not return earlier or take a branch around it."""

from collections.abc import Iterator
from typing import NamedTuple

from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.dataflow import BRANCHES, branch_targets
from kprof_analyzers.model.values import Value, ValueContext

# Values that branches pass are not followed through more branches: the time grows with the square of their number.
_MOST_BRANCHES = 200


class _Taken(NamedTuple):
    """The workgroups that go from a branch to one of its targets.

    Attributes:
        branch: the branch.
        target: number of the target.
        label: label of the target.
        workgroups: for each workgroup, whether it takes the branch to this target.
    """

    branch: Operation
    target: int
    label: str
    workgroups: list[bool]


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
    found: dict[str, list[bool]] = {}
    for taken in _taken(evaluator, function, op.index):
        before = found.get(taken.label)
        going = taken.workgroups
        found[taken.label] = going if before is None else [a or b for a, b in zip(before, going, strict=True)]
    return found.get(op.block)


def _taken(evaluator: ValueContext, function: Operation, end: int) -> Iterator[_Taken]:
    """Yield each target of a function's branches before operation ``end``, with the workgroups that go there."""
    size = len(evaluator.programs)
    every = [True] * size
    found = {"": every}
    # Only branches before the operation are considered; conditions of later ones may depend on the operation.
    for branch in evaluator.module.operations[function.index : end]:
        if branch.name not in BRANCHES or branch.parent != function.index:
            continue
        here = found.get(branch.block)
        condition = evaluator.certain(evaluator.flow.inputs(branch)[0]) if branch.name == "cf.cond_br" else 1
        for number, label in enumerate(branch_targets(branch)[:2]):
            going = [False] * size if here is None else _going(here, condition, every, wanted=number == 0)
            before = found.get(label)
            found[label] = going if before is None else [a or b for a, b in zip(before, going, strict=True)]
            yield _Taken(branch, number, label, going)


def passed(evaluator: ValueContext, name: str, depth: int) -> Value | None:
    """Return the value of a block's argument: for each workgroup, the value that the branch it takes passes.

    Returns:
        The value, or ``None`` if a workgroup may take branches that pass different values, or if there are too many
        branches.
    """
    incoming = evaluator.flow.incoming(name)
    last = max(incoming, key=lambda one: one.branch.index).branch
    if last.parent is None or last.loop is not None or len(evaluator.flow.branches) > _MOST_BRANCHES:
        return None
    operations = evaluator.module.operations
    taken = {
        (one.branch.index, one.target): one.workgroups
        for one in _taken(evaluator, operations[last.parent], last.index + 1)
    }
    size = len(evaluator.programs)
    found: list[int | None] = [None] * size
    for branch, target, source in incoming:
        going = taken.get((branch.index, target))
        if going is None or not any(going):
            continue
        value = evaluator.value(source, depth)
        if value is None:
            return None
        each = value if isinstance(value, list) else [value] * size
        for place, number in enumerate(each):
            if going[place] and found[place] not in {None, number}:
                return None
            found[place] = number if going[place] else found[place]
    known = [number for number in found if number is not None]
    if not known:
        return None
    return [known[0] if number is None else number for number in found]


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
