"""As :mod:`kprof.inputs.torch_profiler.link`, for traces with many records: whole columns at a time, with numpy.

Its import takes a tenth of a second, so small traces are linked record by record. Both give the same tables.
"""

from array import array
from typing import TYPE_CHECKING, Any

from kprof.inputs.torch_profiler.columns import ELSEWHERE, NOTHING, Records
from kprof.inputs.torch_profiler.model import LinkedTrace

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]

ENOUGH = 1 << 16
"""Fewer records are not worth the import."""


def is_worth_it(trace: LinkedTrace) -> bool:
    """Whether a trace has many records, all of one rank: others are linked one by one."""
    tables: tuple[Records[Any], ...] = (trace.activities, trace.launches, trace.operators, trace.frames)
    if sum(map(len, tables)) < ENOUGH:
        return False
    ranks = {rank for table in tables if len(table) for rank in table.numbers("rank").extremes()}
    return len(ranks) == 1


def view(column: "array[int]") -> "Numbers":
    """A column of numbers as an array of the same memory: what is written to one stands in the other."""
    import numpy as np

    return np.frombuffer(column, dtype=np.int64) if len(column) else np.zeros(0, dtype=np.int64)


def codes(column: "array[int]") -> "npt.NDArray[np.int32]":
    """As :func:`view`, of the codes of a column of words."""
    import numpy as np

    return np.frombuffer(column, dtype=np.int32) if len(column) else np.zeros(0, dtype=np.int32)


def nest(trace: LinkedTrace) -> None:
    """Parents by time: thread by thread, all records of a thread at once."""
    import numpy as np

    tables: tuple[Records[Any], ...] = (trace.frames, trace.operators, trace.launches)
    kinds = np.repeat(np.arange(3, dtype=np.int8), [len(table) for table in tables])
    rows = np.concatenate([np.arange(len(table)) for table in tables])
    starts, durations, threads = (
        np.concatenate([view(table.numbers(field).data) for table in tables])
        for field in ("start_ns", "duration_ns", "thread")
    )
    # Around others of the same start is the longest, and of equal ones first a frame, then an operator.
    order = np.lexsort((rows, kinds, -durations, starts, threads))
    edges = np.flatnonzero(np.diff(threads[order])) + 1
    for mine in np.split(order, edges):
        _nest_thread(trace, kinds[mine], rows[mine], starts[mine], durations[mine])


def _nest_thread(
    trace: LinkedTrace, kinds: "npt.NDArray[np.int8]", rows: "Numbers", starts: "Numbers", durations: "Numbers"
) -> None:
    import numpy as np

    ends = starts + durations
    filled = (("parent", None), ("frame", "parent"), ("frame", "operator"))
    tables: tuple[Records[Any], ...] = (trace.frames, trace.operators, trace.launches)
    for around in (0, 1):
        places = np.flatnonzero(kinds == around)
        if not len(places):
            continue
        # Of each record the last one of the kind before it: it, or one around that, is the innermost open one.
        before = np.cumsum(kinds == around) - (kinds == around) - 1
        parents = before[places]
        _climb(parents, parents, starts[places], ends[places])
        for kind in range(around, 3):
            of_kind = kinds == kind
            found = parents if kind == around else before[of_kind]
            if kind != around:
                _climb(found, parents, starts[of_kind], ends[places])
            field = filled[kind][around]
            if field is not None and len(found):
                column = view(tables[kind].numbers(field).data)
                column[rows[of_kind]] = np.where(found >= 0, rows[places][found], -1)


def _climb(found: "Numbers", parents: "Numbers", starts: "Numbers", ends: "Numbers") -> None:
    """Go from candidates to what is around them until they are still open at the starts.

    Where ``found`` is ``parents`` itself, half known, each step doubles: whatever was passed over for a candidate had
    ended when that began.
    """
    import numpy as np

    open_ = np.flatnonzero(found >= 0)
    while len(open_):
        open_ = open_[ends[found[open_]] <= starts[open_]]
        found[open_] = parents[found[open_]]
        open_ = open_[found[open_] >= 0]


class Rows:
    """Rows of a table by a number; those that share it in the order that is given."""

    def __init__(self, numbers: "array[int]", order: "Numbers | None" = None) -> None:
        import numpy as np

        all_numbers = view(numbers)
        rows = np.arange(len(all_numbers)) if order is None else order
        rows = rows[all_numbers[rows] > ELSEWHERE]
        self._rows = rows[np.argsort(all_numbers[rows], kind="stable")]
        self._keys = all_numbers[self._rows]

    def ranges(self, numbers: "Numbers") -> "tuple[Numbers, Numbers]":
        """For each number where its rows begin in :attr:`order`, and how many they are."""
        import numpy as np

        low = np.searchsorted(self._keys, numbers, "left")
        return low, np.searchsorted(self._keys, numbers, "right") - low

    @property
    def order(self) -> "Numbers":
        """The rows by their numbers."""
        return self._rows

    def repeated(self) -> tuple[int, int]:
        """How many rows share their number with an earlier one, and the first such number."""
        again = self._keys[1:][self._keys[1:] == self._keys[:-1]]
        return len(again), int(again[0]) if len(again) else 0


def link_activities(trace: LinkedTrace) -> tuple[int, int]:
    """Fill in launches and operators of activities; return the number of repeated correlation ids and the first."""
    import numpy as np

    launches, activities = trace.launches, trace.activities
    in_time = np.argsort(view(launches.numbers("start_ns").data), kind="stable")
    by_correlation = Rows(launches.numbers("correlation").data, in_time)
    correlations, externals, starts = (
        view(activities.numbers(field).readable) for field in ("correlation", "external_id", "start_ns")
    )
    low, count = by_correlation.ranges(correlations)
    count[correlations <= ELSEWHERE] = 0
    launch = np.full(len(activities), -1)
    known = count > 0
    has_launches = bool(known.any())
    launch[known] = by_correlation.order[low[known]]
    begun = view(launches.numbers("start_ns").data)
    for row in np.flatnonzero(count > 1).tolist():
        calls = by_correlation.order[low[row] : low[row] + count[row]]
        earlier = calls[begun[calls] <= starts[row]]
        launch[row] = earlier[-1] if len(earlier) else calls[0]
    # Columns of which nothing is known stay runs of -1, which take no memory.
    if has_launches:
        view(activities.numbers("launch").data)[:] = launch
        view(launches.numbers("activities").data)[:] += np.bincount(launch[known], minlength=len(launches))
    operator = np.full(len(activities), -1)
    operator[known] = view(launches.numbers("operator").data)[launch[known]]
    _by_external_id(trace, operator, externals)
    if (operator >= 0).any():
        view(activities.numbers("operator").data)[:] = operator
    if not has_launches:
        return by_correlation.repeated()
    flags = activities.words("graph")
    plain, in_graph = flags.code(False), flags.code(True)
    words, names = launches.words("name").words, codes(launches.words("name").data)
    graph = np.array([text is not None and "GraphLaunch" in text for text in words], dtype=bool)
    codes(flags.data)[known] = np.where(graph[names[launch[known]]], in_graph, plain)
    return by_correlation.repeated()


def _by_external_id(trace: LinkedTrace, operator: "Numbers", externals: "Numbers") -> None:
    import numpy as np

    without = np.flatnonzero((operator < 0) & (externals > ELSEWHERE))
    if not len(without) or not len(trace.operators):
        return
    by_external = Rows(trace.operators.numbers("external_id").data)
    low, count = by_external.ranges(externals[without])
    found = count > 0
    operator[without[found]] = by_external.order[low[found]]


def alike(columns: "list[npt.NDArray[np.int32]]", rows: "Numbers") -> "list[Numbers] | None":
    """Rows with equal codes in all columns together, by their first row; ``None`` where there are too many codes."""
    import numpy as np

    key, size = np.zeros(len(rows), dtype=np.int64), 1
    for column in columns:
        # A code of -1 stands for nothing.
        count = int(column.max(initial=-1)) + 2
        size *= count
        if size >= 1 << 62:
            return None
        key = key * count + column + 1
    order = np.argsort(key, kind="stable")
    groups = np.split(rows[order], np.flatnonzero(np.diff(key[order])) + 1)
    return sorted((group for group in groups if len(group)), key=lambda group: int(group[0]))


def collisions(trace: LinkedTrace) -> tuple[int, int]:
    """Activities that are there twice, and others that begin before an earlier one of their stream has ended."""
    import numpy as np

    table = trace.activities
    starts, durations, correlations, devices, streams = (
        view(table.numbers(field).readable) for field in ("start_ns", "duration_ns", "correlation", "device", "stream")
    )
    names = codes(table.words("name").readable)
    order = np.lexsort((names, durations, starts, streams, devices))
    same_stream = (np.diff(devices[order]) == 0) & (np.diff(streams[order]) == 0)
    same = same_stream & (durations[order][1:] > 0)
    for column in (starts, durations, names, correlations):
        same &= column[order][1:] == column[order][:-1]
    overlapping = 0
    for mine in np.split(np.arange(len(order)), np.flatnonzero(~same_stream) + 1):
        begun, length = starts[order[mine]], durations[order[mine]]
        latest = np.maximum.accumulate(begun + length)
        overlapping += int(((begun[1:] < latest[:-1]) & ~same[mine[:-1]]).sum())
    return int(same.sum()), overlapping


def take_lds(trace: LinkedTrace) -> None:
    """Dynamic LDS of kernels from their launches, where the kernels themselves do not say."""
    import numpy as np

    activities = trace.activities
    lds, of_launch = activities.numbers("lds_bytes"), trace.launches.numbers("lds_bytes")
    kinds, graph = activities.words("kind"), activities.words("graph")
    if activities.numbers("launch").only == -1:
        return
    launch = view(activities.numbers("launch").readable)
    is_kernel, in_graph = codes(kinds.readable) == kinds.code("kernel"), codes(graph.readable) == graph.code(True)
    rows = np.flatnonzero((view(lds.readable) == NOTHING) & (launch >= 0) & is_kernel & ~in_graph)
    found = view(of_launch.readable)[launch[rows]]
    plain = found > ELSEWHERE
    if plain.any():
        view(lds.data)[rows[plain]] = found[plain]
    for row in rows[found == ELSEWHERE].tolist():
        lds[row] = of_launch[int(launch[row])]
