"""What would save most of a step: the changes with the largest predicted gain, and how sure each one is."""

from collections.abc import Iterator, Sequence

from kprof.hardware.machine import Product
from kprof_analyzers.whole_step.document import ProfileChange
from kprof_analyzers.whole_step.fusing import FUSED, fusable
from kprof_analyzers.whole_step.joined_products import joinable
from kprof_analyzers.whole_step.library_kernels import library_kernels
from kprof_analyzers.whole_step.short_launches import short_launches
from kprof_analyzers.whole_step.timing import StepCall
from kprof_analyzers.whole_step.wasted_tiles import wasteful

MOST_CHANGES = 5
"""Changes that are named at most."""

WORTH = 0.005
"""Share of the step below which a change is not named."""


def changes_of(
    calls: Sequence[StepCall], product: Product | None = None, tried: Sequence[ProfileChange] = ()
) -> list[ProfileChange]:
    """The changes that would save most of the step, the largest first. Their savings overlap: they do not add up.

    Args:
        calls: of the step.
        product: the GPU; without it nothing is said of products.
        tried: configurations of kernels that were compiled and are predicted to be faster.
    """
    found = every_change(calls, product, tried)
    return [change for change in found if change.share >= WORTH][:MOST_CHANGES]


def every_change(
    calls: Sequence[StepCall], product: Product | None = None, tried: Sequence[ProfileChange] = ()
) -> list[ProfileChange]:
    """As :func:`changes_of`, with those that save next to nothing."""
    whole = sum(call.timed.us or 0.0 for call in calls)
    if not whole:
        return []
    found = [*tried, *_findings(calls, whole), *_fusions(calls, whole), *short_launches(calls, whole)]
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
        yield ProfileChange(what, us, us / whole, count, at_most, "the model's, of the compiled kernel")


def _fusions(calls: Sequence[StepCall], whole: float) -> Iterator[ProfileChange]:
    for what, us, count in fusable(calls):
        sure = "by shapes" if what.startswith(FUSED) else "by shapes: what passes between may be needed elsewhere"
        yield ProfileChange(what, us, us / whole, count, at_most=True, sure=sure)
