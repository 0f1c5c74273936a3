"""Products whose shape leaves matrix instructions or compute units without work."""

from collections.abc import Iterator, Sequence

from kprof.captures.model import CapturedOperator, TensorInfo
from kprof.hardware.machine import Product
from kprof_analyzers.profiles.timeline.operators.rooflines import limits_of_product
from kprof_analyzers.whole_step.document import ProfileChange
from kprof_analyzers.whole_step.efficiency import operator_time
from kprof_analyzers.whole_step.kinds import NARROW, factors_of
from kprof_analyzers.whole_step.operator_work import work_of_call
from kprof_analyzers.whole_step.timing import StepCall

_CONVOLUTIONS = frozenset({"convolution", "pointwise convolution", "convolution of few channels"})


def wasteful(calls: Sequence[StepCall], product: Product, whole: float) -> Iterator[ProfileChange]:
    """Batches of narrow products, and products with fewer tiles than the GPU has compute units, alike ones together.

    Large products are not among them: in the public measurements how whole their tiles and rounds of tiles are
    explains none of the time, since the libraries choose among tens of tiles.

    Args:
        calls: of the step.
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
    """A batch of products of which some have fewer rows or columns than a matrix instruction."""
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
    """A product, a convolution or attention that has not enough tiles for all compute units, by the fitted loss."""
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
