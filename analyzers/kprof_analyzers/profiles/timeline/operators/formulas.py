"""Which formula an operator has."""

from collections.abc import Mapping, Sequence

from kprof_analyzers.profiles.timeline.operators import attention, convolutions, elementwise, products
from kprof_analyzers.profiles.timeline.operators.arguments import Argument
from kprof_analyzers.profiles.timeline.operators.work import Formula, Work

FORMULAS: Mapping[str, Formula] = {
    **products.OPERATORS,
    **convolutions.OPERATORS,
    **attention.OPERATORS,
    **elementwise.OPERATORS,
}


def work_of(name: str, given: Sequence[Argument]) -> Work | None:
    """What a call of an operator has to do; ``None`` where its name or its arguments are not known."""
    formula = FORMULAS.get(name)
    return formula(given) if formula is not None and given else None


def triton_work(given: Sequence[Argument]) -> Work | None:
    """What a Triton kernel has to move at least: each tensor that it is given once, read or written."""
    moved = sum(argument.bytes for argument in given if argument.is_tensor)
    return Work(None, moved, assumed="each tensor read or written once") if moved else None
