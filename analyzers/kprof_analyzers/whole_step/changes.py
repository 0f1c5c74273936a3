"""Find the changes with the largest predicted savings in a step, and the certainty of each saving."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kprof.captures.model import CapturedOperator, TensorInfo, TensorList
from kprof.hardware.machine import Product
from kprof_analyzers.profiles.timeline.operators.rooflines import bound_of, limits_of_product
from kprof_analyzers.whole_step.cures import LIBRARY_CURES
from kprof_analyzers.whole_step.document import ProfileChange
from kprof_analyzers.whole_step.efficiency import operator_time
from kprof_analyzers.whole_step.kinds import NARROW, factors_of, kind_of
from kprof_analyzers.whole_step.operator_work import elements_of, work_of_call
from kprof_analyzers.whole_step.timing import StepCall, TimedCall

_KINDS = frozenset({"elementwise", "copy"})
_FUSED_NAMES = 4
FUSED = "fused=True"
"""Argument with which torch's optimizers update all parameters in one kernel."""
_NEAR = 16
"""Maximum number of calls between two products that can be joined because they have the same left factor.

Examples are the projections to queries, keys and values, or the gate and up projections.
"""
_FACTORS = {"aten::mm": (0, 1), "aten::addmm": (1, 2)}
_CONVOLUTIONS = frozenset({"convolution", "pointwise convolution", "convolution of few channels"})
_FIXED = "launch"
_MANY = 20
"""Minimum number of short launches to report them; a few occur in every step."""
_NAMED = 3
_OPTIMIZERS = ("aten::_foreach_", "_foreach_", "aten::_fused_adam", "aten::_fused_sgd")

MOST_CHANGES = 5
"""Maximum number of listed changes, in addition to the configurations that a search found."""

WORTH = 0.005
"""Minimum share of the step for a change to be listed."""


def changes_of(
    calls: Sequence[StepCall], product: Product | None = None, tried: Sequence[ProfileChange] = ()
) -> list[ProfileChange]:
    """Return the changes that would save the most time of a step, largest first. Overlapping savings do not add up.

    Args:
        calls: calls of the step.
        product: the GPU; without it (None), changes of matrix products are not considered.
        tried: configurations of kernels that were compiled and are predicted to be faster.
    """
    found = [change for change in every_change(calls, product, tried) if change.share >= WORTH]
    return [change for rank, change in enumerate(found) if rank < MOST_CHANGES or change in tried]


def every_change(
    calls: Sequence[StepCall], product: Product | None = None, tried: Sequence[ProfileChange] = ()
) -> list[ProfileChange]:
    """Return all changes like :func:`changes_of`, including those with negligible savings."""
    whole = sum(call.timed.us or 0.0 for call in calls)
    if not whole:
        return []
    # A compiled configuration replaces the finding that suggests it.
    compiled = {change.what.partition(":")[0] for change in tried}
    untried = [call for call in calls if call.timed.name not in compiled]
    found = [*tried, *_findings(untried, whole), *_fusions(calls, whole), *short_launches(calls, whole)]
    if product is not None:
        found += [*joinable(calls, product, whole), *wasteful(calls, product, whole)]
        found += library_kernels(calls, product, whole)
    found.sort(key=lambda change: (-change.us, change.what))
    return found


def _findings(calls: Sequence[StepCall], whole: float) -> Iterator[ProfileChange]:
    found: dict[tuple[str, str, str], tuple[float, int, bool]] = {}
    for call in calls:
        if call.timed.finding is not None:
            text, us, at_most = call.timed.finding
            key = call.timed.name, text, call.timed.fix
            before, count, never = found.get(key, (0.0, 0, False))
            found[key] = before + us, count + 1, never or at_most
    for words, (us, count, at_most) in found.items():
        what = ": ".join(filter(None, words))
        yield ProfileChange(what, us, us / whole, count, at_most, "prediction of the compiled kernel")


def _fusions(calls: Sequence[StepCall], whole: float) -> Iterator[ProfileChange]:
    for what, us, count in fusable(calls):
        sure = "by shapes" if what.startswith(FUSED) else "by shapes: the values in between may be needed elsewhere"
        yield ProfileChange(what, us, us / whole, count, at_most=True, sure=sure)


def short_launches(calls: Sequence[StepCall], whole: float) -> Iterator[ProfileChange]:
    """Yield the saving from merging short launches, if there are many; they take at most twice an empty launch.

    Fewer and larger kernels save at most the launch overhead of all short launches but one. Capturing a graph does not
    count: it launches the same number of kernels and saves only host time, which is not predicted. An optimizer's calls
    are excluded, because ``torch.compile(model)`` does not change them; so is code that it has already compiled.

    Args:
        calls: calls of the step.
        whole: microseconds of the step.
    """
    short = [call.timed for call in calls if call.timed.short and not (_is_optimizers(call) or call.compiled)]
    if len(short) < _MANY:
        return
    saved = sum(one.launch_us for one in short) - max(one.launch_us for one in short)
    together = sum(one.us or 0.0 for one in short)
    what = "torch.compile(model) (fewer and larger launches in place of many short ones; host time is not included)"
    most = ", ".join(name.removeprefix("aten::") for name in _longest(short))
    sure = f"each takes at most twice an empty launch; most in {most}; which ones can be joined is not known"
    yield ProfileChange(what, saved, saved / whole, len(short), at_most=True, sure=sure, now_us=together)


def _is_optimizers(call: StepCall) -> bool:
    if call.scope is not None and call.scope.phase == "optimizer":
        return True
    return call.timed.name.startswith(_OPTIMIZERS)


def _longest(short: Sequence[TimedCall]) -> list[str]:
    """Return the names with the most time, longest first."""
    times: dict[str, float] = defaultdict(float)
    for one in short:
        times[one.name] += one.us or 0.0
    return sorted(times, key=lambda name: -times[name])[:_NAMED]


def library_kernels(calls: Sequence[StepCall], product: Product, whole: float) -> Iterator[ProfileChange]:
    """Yield the maximum saving from other library kernels, one change for each kind of operator.

    The predicted time of a call is that of a typical library kernel in public measurements. No kernel is faster than
    the GPU's limit, so the saving is the difference at most. Calls that take little longer than an empty launch are
    excluded, and so are calls dominated by their fixed time, because another kernel does not shorten these.

    Args:
        calls: calls of the step.
        product: the GPU.
        whole: microseconds of the step.
    """
    limits = limits_of_product(product)
    groups: dict[str, list[tuple[float, StepCall]]] = defaultdict(list)
    for call in calls:
        made, kind = call.made, kind_of(call.timed.name)
        if not isinstance(made, CapturedOperator) or kind not in LIBRARY_CURES:
            continue
        if call.timed.short or call.timed.bound == _FIXED:
            continue
        work = work_of_call(made)
        _, least_ns = bound_of(work.work if work else None, limits)
        if call.timed.us is not None and least_ns is not None and call.timed.us > least_ns / 1e3:
            groups[kind].append((call.timed.us - least_ns / 1e3, call))
    for kind, found in groups.items():
        saved = sum(us for us, _ in found)
        cure, (_, worst) = LIBRARY_CURES[kind], max(found, key=lambda one: one[0])
        place = f"{worst.timed.name.removeprefix('aten::')} {worst.timed.shapes}".rstrip()
        sure = f"if each {kind} reached the GPU's limit; most in {place}"
        now = sum(call.timed.us or 0.0 for _, call in found)
        what = f"{cure.text} ({cure.why})"
        yield ProfileChange(what, saved, saved / whole, len(found), at_most=True, sure=sure, now_us=now)


def wasteful(calls: Sequence[StepCall], product: Product, whole: float) -> Iterator[ProfileChange]:
    """Yield the savings for batches of narrow products, and for operators with fewer tiles than compute units.

    Savings of calls with the same shapes are added up.

    Large products are not reported: in the public measurements, partial tiles and partial rounds of tiles explain none
    of their time, since the libraries choose among tens of tile sizes.

    Args:
        calls: calls of the step.
        product: the GPU.
        whole: microseconds of the step.
    """
    found: dict[tuple[str, bool], tuple[float, int]] = {}
    for call in calls:
        one = _narrow(call) or _few_tiles(call, product)
        if one is not None:
            what, saved, measured = one
            us, count = found.get((what, measured), (0.0, 0))
            found[what, measured] = us + saved, count + 1
    for (what, measured), (us, count) in found.items():
        sure = "by the fit to public measurements" if measured else "by the width of a matrix instruction, not measured"
        yield ProfileChange(what, us, us / whole, count, at_most=True, sure=sure)


def _narrow(call: StepCall) -> tuple[str, float, bool] | None:
    """Return the saving if a batch of narrow products filled its matrix instructions; ``None`` for other calls."""
    if call.timed.kind != "small products" or call.timed.us is None or call.timed.short:
        return None
    pair = _factors(call)
    if pair is None:
        return None
    (batch, rows, inner), columns = pair[0], pair[1][-1]
    used = min(1.0, rows / NARROW) * min(1.0, columns / NARROW)
    what = (
        f"a batch of {batch:,} products of {rows:,}x{inner:,} by {columns:,} uses {100 * used:.0f} % of a matrix "
        f"instruction of {NARROW}x{NARROW}: join products of the batch, or write out the sums"
    )
    return what, (call.timed.us - call.timed.launch_us) * (1 - used), False


def _few_tiles(call: StepCall, product: Product) -> tuple[str, float, bool] | None:
    """Return the saving for an operator if its result had at least one tile for each compute unit.

    The difference comes from the fit to public measurements. ``None`` if there are enough tiles already.
    """
    made, units = call.made, product.compute_units
    if not isinstance(made, CapturedOperator) or call.timed.us is None or call.timed.short or not units:
        return None
    work = work_of_call(made)
    if work is None or work.tiles is None or "norm" in work.kind or not 0 < work.tiles.count < units:
        return None
    limits = limits_of_product(product)
    full = operator_time(work.kind, work.work, limits, work.tiles.filling(units))
    if full is None or full.us >= call.timed.us:
        return None
    kind = "convolution" if work.kind in _CONVOLUTIONS else "attention" if work.kind == "attention" else "product"
    what = (
        f"{kind} {call.timed.shapes}: {work.tiles.count:,} tiles of 128x128 for {units} compute units; a larger batch, "
        "or a split of its sums"
    )
    return what, call.timed.us - full.us, True


def _factors(call: StepCall) -> tuple[Sequence[int], Sequence[int]] | None:
    if not isinstance(call.made, CapturedOperator):
        return None
    pair = factors_of([one.shape for one in call.made.inputs if isinstance(one, TensorInfo)])
    return pair if pair is not None and len(pair[0]) == len(pair[1]) == 3 else None


@dataclass(frozen=True)
class _Factored:
    """A product of two matrices: left factor, right factor, and key that is equal for products that can be joined."""

    call: StepCall
    left: TensorInfo
    right: TensorInfo
    key: tuple[object, ...]


def joinable(calls: Sequence[StepCall], product: Product, whole: float) -> Iterator[ProfileChange]:
    """Yield the savings from joining several products with the same left factor into one product.

    Left factors are the same if their storage, shape and strides are equal. At most 16 calls may be between two joined
    products. Savings of groups with the same shapes are added up.

    Args:
        calls: calls of the step.
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
    """Yield groups of at least two products with the same left factor; a group's products are in the calls' order."""
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


def fusable(calls: Sequence[StepCall]) -> list[tuple[str, float, int]]:
    """Return the savings from fusing sequences of operators: text to type, saved microseconds, number of calls.

    A sequence consists of element-wise operators and copies in the same phase. Each has an input of the size that the
    previous one returned. Calls by code that ``torch.compile`` generated are excluded. The saving is the time of all
    operators except the longest, because intermediate results need not go through memory. It is an upper bound, since
    other operators may need these results.
    """
    found: dict[str, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for run in _runs(calls):
        times = [call.timed.us or 0.0 for call in run]
        names = [call.timed.name.removeprefix("aten::") for call in run]
        more = f" and {len(names) - _FUSED_NAMES} more" if len(names) > _FUSED_NAMES else ""
        text = f"torch.compile(model) (it fuses {', '.join(names[:_FUSED_NAMES])}{more})"
        if all(name.startswith("_foreach_") for name in names):
            text = f"{FUSED} in the optimizer (its {len(names)} operators on lists become one kernel)"
        saved, count = found[text]
        found[text] = saved + sum(times) - max(times), count + len(run)
    return [(text, saved, count) for text, (saved, count) in found.items()]


def _runs(calls: Sequence[StepCall]) -> Iterator[list[StepCall]]:
    run: list[StepCall] = []
    for call in calls:
        if run and not _uses_result_of(run[-1], call):
            if len(run) > 1:
                yield run
            run = []
        if call.timed.kind in _KINDS and call.timed.us is not None and not call.compiled:
            run.append(call)
    if len(run) > 1:
        yield run


def _uses_result_of(before: StepCall, call: StepCall) -> bool:
    """Return whether a call seems to use the result of the call before it: one of its inputs has the same size."""
    if call.timed.kind not in _KINDS or call.timed.us is None or call.process != before.process or call.compiled:
        return False
    made, given = before.made, call.made
    if not (isinstance(made, CapturedOperator) and isinstance(given, CapturedOperator)):
        return False
    if (before.scope and before.scope.phase) != (call.scope and call.scope.phase):
        return False
    # An in-place operator on lists returns nothing, so its first argument counts as its result.
    gave = made.outputs if any(elements_of(one) for one in made.outputs) else made.inputs[:1]
    elements = sum(elements_of(one) for one in gave)
    takes = [one for one in given.inputs if isinstance(one, TensorInfo | TensorList)]
    return elements > 1 and any(elements_of(one) == elements for one in takes)
