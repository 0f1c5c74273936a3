"""The kernels and the operators that take most GPU time."""

from collections import Counter

import msgspec

from kprof.inputs.torch_profiler.model import Activity, Trace
from kprof_analyzers.timeline.categories import Categories


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
        self.durations: list[int] = []
        self.operators: Counter[str] = Counter()
        self.grids: Counter[tuple[tuple[int, int, int] | None, tuple[int, int, int] | None]] = Counter()
        self.apis: Counter[str | None] = Counter()

    def add(self, trace: Trace, activity: Activity) -> None:
        self.durations.append(activity.duration_ns)
        self.operators[trace.operators[activity.operator].name if activity.operator >= 0 else ""] += (
            activity.duration_ns
        )
        self.grids[activity.workgroups, activity.workgroup_size] += 1
        self.apis[trace.launches[activity.launch].name if activity.launch >= 0 else None] += 1


def top_kernels(trace: Trace, categories: Categories, *, transfers: bool = False) -> list[KernelTime]:
    """Kernels by summed time, largest first; with ``transfers`` copies and memsets too."""
    sums: dict[tuple[str, str], _Sum] = {}
    whole = 0
    for activity in trace.activities:
        if activity.kind != "kernel" and not transfers:
            continue
        whole += activity.duration_ns
        key = (activity.name, categories.of(trace, activity))
        found = sums.get(key)
        if found is None:
            found = sums[key] = _Sum()
        found.add(trace, activity)
    rows = [_kernel_row(name, category, found, whole) for (name, category), found in sums.items()]
    return sorted(rows, key=lambda r: (-r.total_ns, r.name, r.category))


def _kernel_row(name: str, category: str, found: _Sum, whole: int) -> KernelTime:
    total = sum(found.durations)
    grid, block = found.grids.most_common(1)[0][0]
    return KernelTime(
        name,
        category,
        len(found.durations),
        total,
        min(found.durations),
        max(found.durations),
        total / whole if whole else 0.0,
        dict(found.operators.most_common()),
        grid,
        block,
        found.apis.most_common(1)[0][0],
    )


def top_operators(trace: Trace) -> list[OperatorTime]:
    """Operators by the GPU time they launched themselves, largest first; those without any come last."""
    direct: Counter[str] = Counter()
    subtree: Counter[str] = Counter()
    kernels: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    cpu: Counter[str] = Counter()
    for operator in trace.operators:
        if operator.kind == "operator":
            calls[operator.name] += 1
            cpu[operator.name] += operator.duration_ns
    whole = 0
    for activity in trace.activities:
        whole += activity.duration_ns
        chain = [o for o in trace.operator_chain(activity.operator) if o.kind == "operator"]
        if chain:
            direct[chain[0].name] += activity.duration_ns
            kernels[chain[0].name] += 1
        for name in {o.name for o in chain}:
            subtree[name] += activity.duration_ns
    rows = [
        OperatorTime(n, calls[n], direct[n], subtree[n], kernels[n], cpu[n], direct[n] / whole if whole else 0.0)
        for n in calls
    ]
    return sorted(rows, key=lambda r: (-r.direct_ns, -r.subtree_ns, r.name))
