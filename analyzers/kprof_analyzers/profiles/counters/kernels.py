"""Counter values by kernel, pass by pass."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.rocprof import Data


@dataclass(frozen=True)
class KernelCounters:
    """What was counted for one kernel.

    Attributes:
        name: normalised kernel name.
        calls: dispatches that were counted.
        nanoseconds: mean duration; ``None`` when no times can be trusted.
        passes: for each file and pass, counter to mean over the dispatches.
    """

    name: str
    calls: int
    nanoseconds: float | None
    passes: tuple[dict[str, float], ...]
    _order: dict[str, int] = field(default_factory=dict, compare=False)

    def value(self, counter: str, others: frozenset[str] = frozenset()) -> tuple[float, int] | None:
        """A counter and the pass it is of: the one that has most of the other counters, else the first.

        A formula's counters should be of one run of the kernel. ``NAME_sum`` and ``NAME`` stand for each other:
        tools call the sum over all instances by either name.
        """
        names = [counter, counter.removesuffix("_sum") if counter.endswith("_sum") else f"{counter}_sum"]
        found = [
            (sum(other in one for other in others), -place, one[name])
            for place, one in enumerate(self.passes)
            for name in names
            if name in one
        ]
        if not found:
            return None
        _, place, value = max(found, key=lambda entry: entry[:2])
        return value, -place


def kernels(data: "Data") -> list[KernelCounters]:
    """Kernels with counters, longest total time first."""
    import pandas as pd

    counters = data.counters
    if not len(counters):
        return []
    table = counters[["source", "pass", "kernel_name", "dispatch", "counter", "instance", "value"]].copy()
    table["kernel_name"] = table["kernel_name"].astype(object)
    table["counter"] = table["counter"].astype(object)
    table = table.drop_duplicates(["source", "pass", "dispatch", "counter", "instance"])
    channels = table["instance"] >= 0
    whole = table[~channels]
    summed = (
        table[channels]
        .groupby(["source", "pass", "kernel_name", "dispatch", "counter"], sort=False, observed=True)["value"]
        .sum()
    )
    pieces = [whole[["source", "pass", "kernel_name", "dispatch", "counter", "value"]]]
    if len(summed):
        extra = summed.reset_index()
        extra["counter"] += "_sum"
        # A total that the tool counted itself goes before one summed from channels.
        pieces.append(extra)
    values = pd.concat(pieces).drop_duplicates(["source", "pass", "dispatch", "counter"])
    means = values.groupby(["kernel_name", "source", "pass", "counter"], sort=False, observed=True)["value"].mean()
    calls = values.groupby("kernel_name", observed=True)["dispatch"].nunique()
    times = _times(data)
    order = _order(data)
    result = []
    for name, group in means.groupby(level=0, sort=False, observed=True):
        passes = [
            (order.get(int(key[1]), 0), int(key[2]), {str(c): float(v) for c, v in part.droplevel([0, 1, 2]).items()})
            for key, part in group.groupby(level=[0, 1, 2], sort=False, observed=True)
        ]
        passes.sort(key=lambda entry: entry[:2])
        result.append(KernelCounters(str(name), int(calls[name]), times.get(str(name)), tuple(p[2] for p in passes)))
    return sorted(result, key=lambda one: -(one.nanoseconds or 0.0) * one.calls)


def _order(data: "Data") -> dict[int, int]:
    """The merged file of a workload goes before its single passes."""
    sources = enumerate(data.sources)
    ranked = sorted(sources, key=lambda entry: (not entry[1].path.endswith("pmc_perf.csv"), entry[1].path))
    return {index: rank for rank, (index, _) in enumerate(ranked)}


def _times(data: "Data") -> dict[str, float]:
    """Mean duration by kernel: from traces when there are some, since counting slows a kernel down."""
    table = data.kernels
    timed: pd.DataFrame = table[table["timed_calls"] > 0]
    if not len(timed):
        return {}
    traces = [index for index, source in enumerate(data.sources) if source.role == "trace"]
    result: dict[str, float] = {}
    for rows in (timed[~timed["source"].isin(traces)], timed[timed["source"].isin(traces)]):
        sums = rows.groupby("kernel_name", observed=True)[["total_ns", "timed_calls"]].sum()
        result.update({str(name): float(row["total_ns"] / row["timed_calls"]) for name, row in sums.iterrows()})
    return result
