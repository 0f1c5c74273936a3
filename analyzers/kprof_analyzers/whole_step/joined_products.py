"""Products of one input with several matrices, which one product with the matrices side by side could do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kprof.captures.model import CapturedOperator, TensorInfo
from kprof.hardware.machine import Product
from kprof_analyzers.profiles.timeline.operators.rooflines import limits_of_product
from kprof_analyzers.whole_step.document import ProfileChange
from kprof_analyzers.whole_step.efficiency import operator_time
from kprof_analyzers.whole_step.operator_work import work_of_call
from kprof_analyzers.whole_step.timing import StepCall

_NEAR = 16
"""Calls between two products of one input, at most: queries, keys and values, or gate and up."""
_FACTORS = {"aten::mm": (0, 1), "aten::addmm": (1, 2)}


@dataclass(frozen=True)
class _Factored:
    """A product of two matrices: left factor, right factor, and what has to be the same for it to be joined."""

    call: StepCall
    left: TensorInfo
    right: TensorInfo
    key: tuple[object, ...]


def joinable(calls: Sequence[StepCall], product: Product, whole: float) -> Iterator[ProfileChange]:
    """What one product in place of several with the same left factor saves, alike ones together.

    Products are of one input where their left factors lie in the same storage, with the same shape and strides, and
    at most 16 calls are between them.

    Args:
        calls: of the step.
        product: the GPU.
        whole: microseconds of the step.
    """
    limits = limits_of_product(product)
    found: dict[str, tuple[float, int]] = {}
    for group in _groups(calls):
        columns = [one.right.shape[1] for one in group]
        joined = _joined(group[0], sum(columns))
        work = work_of_call(joined)
        time = work and operator_time(work.kind, work.work, limits, work.tiles)
        saved = sum(one.call.timed.us or 0.0 for one in group) - (time.us if time else float("inf"))
        if saved > 0:
            rows, inner = group[0].left.shape
            what = (
                f"one product of {rows:,}x{inner:,} by {sum(columns):,} columns in place of "
                f"{' and '.join(f'{n:,}' for n in columns)}: their input is the same"
            )
            us, count = found.get(what, (0.0, 0))
            found[what] = us + saved, count + len(group)
    for what, (us, count) in found.items():
        sure = "by the fit to public measurements of products"
        yield ProfileChange(what, us, us / whole, count, at_most=False, sure=sure)


def _groups(calls: Sequence[StepCall]) -> Iterator[list[_Factored]]:
    """Products of one input, in order, several each."""
    open_groups: dict[tuple[object, ...], tuple[int, list[_Factored]]] = {}
    for at, call in enumerate(calls):
        one = _factored(call)
        if one is None:
            continue
        last, group = open_groups.get(one.key, (0, []))
        if group and at - last > _NEAR:
            if len(group) > 1:
                yield group
            group = []
        open_groups[one.key] = at, [*group, one]
    yield from (group for _, group in open_groups.values() if len(group) > 1)


def _factored(call: StepCall) -> _Factored | None:
    made = call.made
    if not isinstance(made, CapturedOperator) or made.name not in _FACTORS or made.factor is None:
        return None
    left, right = (made.inputs[at] if at < len(made.inputs) else None for at in _FACTORS[made.name])
    if call.timed.us is None or not (isinstance(left, TensorInfo) and isinstance(right, TensorInfo)):
        return None
    if not len(left.shape) == len(right.shape) == 2:
        return None
    phase = call.scope.phase if call.scope else ""
    return _Factored(call, left, right, (call.process, call.copy, phase, made.factor, left, right.dtype, made.name))


def _joined(one: _Factored, columns: int) -> CapturedOperator:
    right = replace(one.right, shape=(one.right.shape[0], columns), strides=(columns, 1))
    result = TensorInfo(one.left.dtype, (one.left.shape[0], columns), (columns, 1))
    added = TensorInfo(one.left.dtype, (columns,), (1,))
    assert isinstance(one.call.made, CapturedOperator)
    given = (one.left, right) if one.call.made.name == "aten::mm" else (added, one.left, right)
    return replace(one.call.made, inputs=given, outputs=(result,))
