"""List the kernels and the operators with the most GPU time."""

from collections import Counter
from collections.abc import Container
from typing import NamedTuple

import msgspec

from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof_analyzers.profiles.timeline.categories import Categories
from kprof_analyzers.profiles.timeline.roles import categories_of


class KernelTime(msgspec.Struct, frozen=True):
    """All runs of one kernel in one category, in ns.

    Attributes:
        operators: ns by name of the operator that launched the kernel, largest first; "" if the operator is unknown.
        workgroups: most frequent grid; ``None`` if the trace does not record it.
        api: most frequent launch call.
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
        """Mean duration in ns."""
        return self.total_ns / self.count if self.count else 0.0


class OperatorTime(msgspec.Struct, frozen=True):
    """All calls of one operator.

    Attributes:
        calls: number of calls.
        direct_ns: GPU time of kernels that it launched directly, not by an operator inside it.
        subtree_ns: GPU time including operators inside it. A recursive operator's time is counted once.
        cpu_ns: CPU time including operators inside it.
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

    def add(self, trace: LinkedTrace, alike: "_Alike", durations: list[int]) -> None:
        """Add the durations of runs with equal properties."""
        activities, total = trace.activities, sum(durations)
        self.count += len(durations)
        self.total += total
        self.least, self.largest = min(self.least, *durations), max(self.largest, *durations)
        self.operators[trace.operators.words("name").words[alike.operator] if alike.operator >= 0 else ""] += total
        words = (activities.words(field).words for field in ("workgroups", "workgroup_size"))
        grid, block = (each[code] for each, code in zip(words, (alike.grid, alike.block), strict=True))
        self.grids[grid, block] += len(durations)
        api = trace.launches.words("name").words[alike.api] if alike.api >= 0 else None
        self.apis[api] += len(durations)


class _Alike(NamedTuple):
    """Key of kernel runs that are summed together. Integers are codes of names in the trace's tables; -1 for none."""

    category: str
    name: int
    operator: int
    grid: int
    block: int
    api: int


def top_kernels(
    trace: LinkedTrace, categories: Categories, *, transfers: bool = False, rows: Container[int] | None = None
) -> list[KernelTime]:
    """Return kernels by total time, largest first.

    ``transfers`` includes copies and memsets; ``rows`` restricts the result to some activities. If a replayed graph
    runs the same library GEMM in attention and in the MLP, the GEMM has a row for each.
    """
    groups: dict[_Alike, list[int]] = {}
    kinds, activities = trace.activities.words("kind"), trace.activities
    kernel = kinds.code("kernel")
    codes = (activities.words(field).data for field in ("name", "workgroups", "workgroup_size"))
    numbers = (activities.numbers(field).data for field in ("launch", "operator", "duration_ns"))
    operators, apis = trace.operators.words("name").data, trace.launches.words("name").data
    columns = zip(kinds.data, categories_of(trace, categories), *codes, *numbers, strict=True)
    for row, (kind, category, name, grid, block, launch, operator, duration) in enumerate(columns):
        if (kind != kernel and not transfers) or (rows is not None and row not in rows):
            continue
        api = apis[launch] if launch >= 0 else -1
        key = _Alike(category, name, operators[operator] if operator >= 0 else -1, grid, block, api)
        if key in groups:
            groups[key].append(duration)
        else:
            groups[key] = [duration]
    sums: dict[tuple[str, str], _Sum] = {}
    for key, durations in groups.items():
        found = sums.setdefault((activities.words("name").words[key.name], key.category), _Sum())
        found.add(trace, key, durations)
    whole = sum(found.total for found in sums.values())
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
    """Return operators by the GPU time of kernels that they launched directly, largest first."""
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
