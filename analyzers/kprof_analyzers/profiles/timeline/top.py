"""The kernels and the operators that take most GPU time."""

from collections import Counter
from collections.abc import Container

import msgspec

from kprof.inputs.torch_profiler.model import Activity, LinkedTrace
from kprof_analyzers.profiles.timeline.categories import Categories


class KernelTime(msgspec.Struct, frozen=True):
    """All runs of one kernel in one category, in ns.

    Attributes:
        operators: operators that launched it, with the time under each, largest first; empty name when unknown.
        workgroups: its most frequent grid, ``None`` when the trace does not tell.
        api: its most frequent launch call.
    """

    name: str
    category: str
    count: int
    total_ns: int
    min_ns: int
    max_ns: int
    share: float
    operators: dict[str, int]
    workgroups: tuple[int, int, int] | None
    workgroup_size: tuple[int, int, int] | None
    api: str | None

    @property
    def mean_ns(self) -> float:
        """Average duration."""
        return self.total_ns / self.count if self.count else 0.0


class OperatorTime(msgspec.Struct, frozen=True):
    """All calls of one operator.

    Attributes:
        calls: how often it was called.
        direct_ns: GPU time it launched itself, that is, not from an operator inside it.
        subtree_ns: with what operators inside it launched; a recursion is counted once.
        cpu_ns: CPU time, inclusive.
    """

    name: str
    calls: int
    direct_ns: int
    subtree_ns: int
    kernels: int
    cpu_ns: int
    share: float


class _Sum:
    def __init__(self) -> None:
        self.count = self.total = 0
        self.least, self.largest = 1 << 63, 0
        self.operators: Counter[str] = Counter()
        self.grids: Counter[tuple[tuple[int, int, int] | None, tuple[int, int, int] | None]] = Counter()
        self.apis: Counter[str | None] = Counter()

    def add(self, trace: LinkedTrace, activity: Activity) -> None:
        duration = activity.duration_ns
        self.count += 1
        self.total += duration
        self.least, self.largest = min(self.least, duration), max(self.largest, duration)
        self.operators[trace.operator_name(activity.operator)] += duration
        self.grids[activity.workgroups, activity.workgroup_size] += 1
        self.apis[trace.launches.words("name")[activity.launch] if activity.launch >= 0 else None] += 1


def top_kernels(
    trace: LinkedTrace, categories: Categories, *, transfers: bool = False, rows: Container[int] | None = None
) -> list[KernelTime]:
    """Kernels by summed time, largest first; with ``transfers`` copies and memsets too, with ``rows`` only those."""
    sums: dict[tuple[str, str], _Sum] = {}
    whole = 0
    for row, activity in enumerate(trace.activities):
        if (activity.kind != "kernel" and not transfers) or (rows is not None and row not in rows):
            continue
        whole += activity.duration_ns
        key = (activity.name, categories.of(trace, activity))
        found = sums.get(key)
        if found is None:
            found = sums[key] = _Sum()
        found.add(trace, activity)
    found_rows = [_kernel_row(name, category, found, whole) for (name, category), found in sums.items()]
    return sorted(found_rows, key=lambda r: (-r.total_ns, r.name, r.category))


def _kernel_row(name: str, category: str, found: _Sum, whole: int) -> KernelTime:
    grid, block = found.grids.most_common(1)[0][0]
    return KernelTime(
        name,
        category,
        found.count,
        found.total,
        found.least,
        found.largest,
        found.total / whole if whole else 0.0,
        dict(found.operators.most_common()),
        grid,
        block,
        found.apis.most_common(1)[0][0],
    )


def top_operators(trace: LinkedTrace) -> list[OperatorTime]:
    """Operators by the GPU time they launched themselves, largest first; those without any come last."""
    direct: Counter[str] = Counter()
    subtree: Counter[str] = Counter()
    kernels: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    cpu: Counter[str] = Counter()
    names, kinds = trace.operators.words("name"), trace.operators.words("kind")
    parents = trace.operators.numbers("parent").data
    for row, duration in enumerate(trace.operators.numbers("duration_ns").data):
        if kinds[row] == "operator":
            calls[names[row]] += 1
            cpu[names[row]] += duration
    columns = trace.activities.numbers("duration_ns").data, trace.activities.numbers("operator").data
    for duration, innermost in zip(*columns, strict=True):
        chain = []
        at = innermost
        while at >= 0:
            if kinds[at] == "operator":
                chain.append(names[at])
            at = parents[at]
        if chain:
            direct[chain[0]] += duration
            kernels[chain[0]] += 1
        for name in set(chain):
            subtree[name] += duration
    whole = sum(columns[0])
    rows = [
        OperatorTime(n, calls[n], direct[n], subtree[n], kernels[n], cpu[n], direct[n] / whole if whole else 0.0)
        for n in calls
    ]
    return sorted(rows, key=lambda r: (-r.direct_ns, -r.subtree_ns, r.name))
