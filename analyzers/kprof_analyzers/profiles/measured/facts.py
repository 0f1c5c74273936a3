"""Measured numbers worth showing, and what stands out among them though no finding speaks of it."""

from kprof.document import KernelReport, Resources
from kprof.measured import Fact
from kprof_analyzers.profiles.measured.numbers import MeasuredNumbers
from kprof_analyzers.rules import known_rules
from kprof_analyzers.rules.questions import BUSY, CONFLICTS, HELD, WAITING

_SHOWN = (
    "hbm_percent_of_peak", "l2_hit_rate", "lds_conflicts_per_access", "mfma_utilization", "valu_utilization",
    "wait_share",
)  # fmt: skip


def facts_of(report: KernelReport, numbers: MeasuredNumbers) -> list[Fact]:
    """Time first, then occupancy and roofline, then what units did."""
    return [*_times(numbers), *_occupancy(report, numbers), *_roofline(numbers), *_units(report, numbers)]


def _times(numbers: MeasuredNumbers) -> list[Fact]:
    values, found = numbers.values, []
    if "trace_mean_ns" in values:
        found.append(Fact("trace_mean_ns", "duration in the trace", values["trace_mean_ns"] / 1000, "us"))
    if "mean_ns" in values:
        found.append(Fact("mean_ns", "duration when profiled", values["mean_ns"] / 1000, "us"))
    if "time_share" in values:
        rank, share = values["rank_in_trace"], values["time_share"]
        remark = f"number {rank:g} of the trace's kernels"
        if share < 100:
            # Amdahl: all kernels together take what is left once this one takes no time.
            remark += f"; twice as fast, all kernels together are {100 / (100 - share / 2):.2f} times as fast"
        found.append(Fact("time_share", "share of the GPU's kernel time", share, "%", remark=remark))
    return found


def _occupancy(report: KernelReport, numbers: MeasuredNumbers) -> list[Fact]:
    achieved, limit = numbers.values.get("waves_per_simd"), numbers.values.get("computed_waves_per_simd")
    found = []
    if achieved is not None:
        remark = ""
        if limit is not None and achieved > 1.05 * limit:
            remark = "more than the compiled kernel allows: another program was measured"
        elif limit is not None and achieved < HELD * limit:
            remark = "not the resources: the grid, its tail or short workgroups hold it lower"
        found.append(Fact("waves_per_simd", "waves per SIMD achieved", achieved, "waves", limit, remark))
    scratch = numbers.values.get("scratch_bytes")
    resources = report.resources
    if scratch is not None and isinstance(resources, Resources) and isinstance(resources.scratch_bytes, int):
        remark = ""
        if scratch and not resources.scratch_bytes:
            remark = "what was measured spills, what was compiled does not"
        elif not scratch and resources.scratch_bytes:
            remark = "what was compiled spills, what was measured does not"
        if scratch or resources.scratch_bytes:
            bytes_ = float(resources.scratch_bytes)
            found.append(Fact("scratch_bytes", "scratch of a work-item", scratch, "B", bytes_, remark))
    return found


def _roofline(numbers: MeasuredNumbers) -> list[Fact]:
    point = numbers.point
    if point is None or point.share is None:
        return []
    share = 100 * point.share
    remark = f"the {point.bound} roof"
    if share > 100.5:
        remark += ": impossible; the counters or the GPU named do not fit"
    elif share >= BUSY:
        remark += ": little is left to gain without less traffic or arithmetic"
    return [Fact("roofline_share", "of the roofline reached", share, "%", remark=remark)]


def _units(report: KernelReport, numbers: MeasuredNumbers) -> list[Fact]:
    rules = {finding.rule for finding in report.findings}
    found = []
    for name in _SHOWN:
        value = numbers.values.get(name)
        if value is None:
            continue
        formula = numbers.metrics[name].formula
        remark = ""
        if name == "lds_conflicts_per_access" and value >= CONFLICTS and not rules & _foretelling(name):
            remark = "bank conflicts that no finding predicts"
        elif name == "wait_share" and value >= WAITING and not rules & _foretelling(name):
            remark = "waits that no finding explains"
        found.append(Fact(name, formula.title, value, formula.unit, remark=remark))
    return found


def _foretelling(name: str) -> set[str]:
    """Rules that a number alone decides."""
    return {rule.id for rule in known_rules() if rule.confirmed_by is not None and rule.confirmed_by.needs == (name,)}
