"""What a library's best kernel could save: the time of products, convolutions and attention above the GPU's limit."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kprof.captures.model import CapturedOperator
from kprof.hardware.machine import Product
from kprof_analyzers.profiles.timeline.operators.rooflines import bound_of, limits_of_product
from kprof_analyzers.whole_step.cures import LIBRARY_CURES
from kprof_analyzers.whole_step.document import ProfileChange
from kprof_analyzers.whole_step.kinds import kind_of
from kprof_analyzers.whole_step.operator_work import work_of_call
from kprof_analyzers.whole_step.timing import StepCall

_FIXED = "launch"


def library_kernels(calls: Sequence[StepCall], product: Product, whole: float) -> Iterator[ProfileChange]:
    """Choices of other kernels of the libraries, each for all calls of a kind, with what they could save at most.

    The time of a call is that of a usual library kernel in public measurements; no kernel is faster than the limit.
    Calls that take little more than a launch are left out, and those bound by what a call takes whatever its size:
    another kernel does not shorten that.

    Args:
        calls: of the step.
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
