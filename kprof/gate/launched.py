"""Compare the kernels of one recording with a budget, for tests."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from kprof.errors import KprofError, near
from kprof.gate.config import Budget, KernelEntry
from kprof.gate.limits import cannot_launch, over_budget
from kprof.gate.subject import CheckSubject

if TYPE_CHECKING:
    from kprof.captures.model import Capture
    from kprof.document import KernelReport


def budget_of(limits: Mapping[str, Any]) -> Budget:
    """Return a budget from limits by metric name: ``vgpr_spills=0``, ``waves_per_simd=2``.

    Raises:
        KprofError: an unknown metric, or a value that is not a valid number.
    """
    chosen: dict[str, Any] = {}
    for name, value in limits.items():
        limit = f"{'min' if name == 'waves_per_simd' else 'max'}_{name}"
        known = [each.partition("_")[2] for each in Budget.__struct_fields__]
        if limit not in Budget.__struct_fields__:
            raise KprofError(f"a budget has no limit {name!r}{near(name, known)}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise KprofError(f"the limit {name} takes a number, got {value!r}")
        if not math.isfinite(value) or value < 0:
            raise KprofError(f"{name}: {value} is not a valid limit; it must be at least 0")
        chosen[limit] = value
    return Budget(**chosen)


def reports(capture: "Capture") -> "list[KernelReport]":
    """Return the report of each launched kernel.

    Raises:
        KprofError: a kernel did not compile.
    """
    from kprof.targets.captured import loaded
    from kprof_analyzers.pipeline import analyze

    return [analyze(loaded(kernel)) for kernel in capture.kernels if kernel.launches]


def broken(capture: "Capture", budget: Budget) -> Iterator[str]:
    """Yield one sentence per problem of the launched kernels: over budget, over a hardware limit, or unknown value."""
    from kprof.targets.captured import loaded
    from kprof_analyzers.model.timed import with_time
    from kprof_analyzers.pipeline import analyze

    launched = [kernel for kernel in capture.kernels if kernel.launches]
    if not launched:
        yield "no Triton kernel was launched, so nothing could be compared with the budget"
    if not capture.complete:
        yield "; ".join(capture.notes)
    for kernel in launched:
        where = f"{kernel.name} on {kernel.arch}"
        try:
            code = loaded(kernel)
            # A prediction takes longer than the rest of the analysis, so predict only if the budget limits the time.
            report = analyze(code) if budget.max_time_us is None else with_time(analyze(code), code)
        except KprofError as error:
            yield f"{where}: {error}"
            continue
        if report.unseen is not UNSET:
            yield f"{where}: cannot tell: {report.unseen}"
        subject = CheckSubject(KernelEntry(target=kernel.name), report)
        for finding in (*cannot_launch(subject), *over_budget(subject, budget)):
            place = "" if finding.location is UNSET else f"{finding.location}: "
            yield f"{place}{where}: {finding.message}"
