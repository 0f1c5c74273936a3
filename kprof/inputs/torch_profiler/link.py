"""Link kernels to launches, CPU operators and Python modules by correlation id, external id and nesting in time.

All operations work on complete columns with numpy. Programs that only compute sums do not use this module, so they do
not have to load numpy.
"""

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kprof.inputs.torch_profiler.columns import ELSEWHERE, NOTHING, Records
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace, Operator, PythonFrame

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]
    Codes = npt.NDArray[np.int32]

_FRAME, _OPERATOR, _LAUNCH = 0, 1, 2
"""Order of two records with the same start and duration: the record with the lower number encloses the other."""
# Names of the columns for the innermost open frame and the innermost open operator, by kind of record.
_FILLED = (("parent", None), ("frame", "parent"), ("frame", "operator"))
_MOST_CODES = 1 << 62


def view(column: "array[int]") -> "Numbers":
    """Return a column of integers as an array that shares its memory."""
    import numpy as np

    return np.frombuffer(column, dtype=np.int64) if len(column) else np.zeros(0, dtype=np.int64)


def codes(column: "array[int]") -> "Codes":
    """Return the codes of a column of words as an array that shares its memory."""
    import numpy as np

    return np.frombuffer(column, dtype=np.int32) if len(column) else np.zeros(0, dtype=np.int32)


def link(trace: LinkedTrace, log: IssueLog) -> None:
    """Fill in all index columns of the tables."""
    _nest(trace)
    _forward(trace)
    repeated, number = _link_activities(trace)
    log.add(
        "duplicate-correlation",
        "several API calls have the same correlation id; the last call before the kernel's start is used",
        place=f"correlation {number}",
        count=repeated,
    )


def _nest(trace: LinkedTrace) -> None:
    """Fill in the parents of records by time, for all records of a thread at once."""
    import numpy as np

    tables: tuple[Records[Any], ...] = (trace.frames, trace.operators, trace.launches)
    kinds = np.repeat(np.arange(len(tables), dtype=np.int8), [len(table) for table in tables])
    rows = np.concatenate([np.arange(len(table)) for table in tables])
    ranks, threads, starts, durations = (
        np.concatenate([view(table.numbers(field).readable) for table in tables])
        for field in ("rank", "thread", "start_ns", "duration_ns")
    )
    order = np.lexsort((rows, kinds, -durations, starts, threads, ranks))
    edges = np.flatnonzero((np.diff(threads[order]) != 0) | (np.diff(ranks[order]) != 0)) + 1
    for mine in np.split(order, edges):
        _nest_thread(tables, kinds[mine], rows[mine], starts[mine], starts[mine] + durations[mine])


def _nest_thread(
    tables: tuple[Records[Any], ...], kinds: "npt.NDArray[np.int8]", rows: "Numbers", starts: "Numbers", ends: "Numbers"
) -> None:
    import numpy as np

    for around in (_FRAME, _OPERATOR):
        places = np.flatnonzero(kinds == around)
        if not len(places):
            continue
        # For each record, find the last record of the enclosing kind that starts before it. Either that record or a
        # record that encloses that record is still open.
        before = np.cumsum(kinds == around) - (kinds == around) - 1
        parents = before[places]
        _climb_to_open(parents, parents, starts[places], ends[places])
        for kind in range(around, _LAUNCH + 1):
            of_kind = kinds == kind
            found = parents if kind == around else before[of_kind]
            if kind != around:
                _climb_to_open(found, parents, starts[of_kind], ends[places])
            field = _FILLED[kind][around]
            if field is not None and len(found):
                column = view(tables[kind].numbers(field).data)
                column[rows[of_kind]] = np.where(found >= 0, rows[places][found], -1)


def _climb_to_open(found: "Numbers", parents: "Numbers", starts: "Numbers", ends: "Numbers") -> None:
    """Replace each candidate in ``found`` by its parent until the candidate ends after the start, or is -1 (no parent).

    If ``found`` is the partly known ``parents`` itself, each step doubles the distance. This is valid because every
    skipped record ended before the candidate began.
    """
    import numpy as np

    open_ = np.flatnonzero(found >= 0)
    while len(open_):
        open_ = open_[ends[found[open_]] <= starts[open_]]
        found[open_] = parents[found[open_]]
        open_ = open_[found[open_] >= 0]


class _Rows:
    """Index of table rows by a number such as a correlation id; rows with the same number keep the given order."""

    def __init__(self, numbers: "Numbers", rows: "Numbers") -> None:
        import numpy as np

        rows = rows[numbers[rows] > ELSEWHERE]
        self.rows = rows[np.argsort(numbers[rows], kind="stable")]
        self._keys = numbers[self.rows]

    def ranges(self, numbers: "Numbers") -> "tuple[Numbers, Numbers]":
        """Return, for each number, the position of its rows in :attr:`rows` and their count (0 if unknown)."""
        import numpy as np

        low = np.searchsorted(self._keys, numbers, "left")
        return low, np.searchsorted(self._keys, numbers, "right") - low

    def first(self, numbers: "Numbers") -> "Numbers":
        """Return the first row of each number, or -1 for an unknown number."""
        import numpy as np

        low, count = self.ranges(numbers)
        found = np.full(len(numbers), -1)
        found[count > 0] = self.rows[low[count > 0]]
        return found

    def repeated(self) -> "Numbers":
        """Return the number of each row that repeats the number of an earlier row."""
        again: Numbers = self._keys[1:][self._keys[1:] == self._keys[:-1]]
        return again


def _by_rank(*tables: Records[Any]) -> "Iterator[tuple[Numbers, ...]]":
    """Yield, rank by rank, the rows of that rank in each table, because ids are unique only within a process."""
    import numpy as np

    ranks = [table.numbers("rank") for table in tables]
    for rank in sorted(set[int]().union(*(column.distinct() for column in ranks))):
        yield tuple(
            np.arange(len(table)) if column.only == rank else np.flatnonzero(view(column.readable) == rank)
            for table, column in zip(tables, ranks, strict=True)
        )


def _link_activities(trace: LinkedTrace) -> tuple[int, int]:
    """Fill in launches and operators of activities; return the number of repeated correlation ids and the first one."""
    import numpy as np

    launches, operators, activities = trace.launches, trace.operators, trace.activities
    launch, operator = np.full(len(activities), -1), np.full(len(activities), -1)
    begun, of_call = (view(launches.numbers(name).readable) for name in ("start_ns", "correlation"))
    of_launch, of_operator = (
        view(launches.numbers("operator").readable),
        view(operators.numbers("external_id").readable),
    )
    correlations, externals, starts = (
        view(activities.numbers(field).readable) for field in ("correlation", "external_id", "start_ns")
    )
    repeated: list[Numbers] = []
    for mine, calls, around in _by_rank(activities, launches, operators):
        by_correlation = _Rows(of_call, calls[np.argsort(begun[calls], kind="stable")])
        repeated.append(by_correlation.repeated())
        launch[mine] = _launching_calls(by_correlation, correlations[mine], begun, starts[mine])
        known = mine[launch[mine] >= 0]
        operator[known] = of_launch[launch[known]]
        without = mine[(operator[mine] < 0) & (externals[mine] > ELSEWHERE)]
        operator[without] = _Rows(of_operator, around).first(externals[without])
    known = np.flatnonzero(launch >= 0)
    # Columns without a known value stay runs of -1, which take no memory.
    if (operator >= 0).any():
        view(activities.numbers("operator").data)[:] = operator
    if len(known):
        view(activities.numbers("launch").data)[:] = launch
        view(launches.numbers("activities").data)[:] += np.bincount(launch[known], minlength=len(launches))
        flags = activities.words("graph")
        plain, in_graph = flags.code(False), flags.code(True)
        names = launches.words("name")
        graph = np.array([text is not None and "GraphLaunch" in text for text in names.words], dtype=bool)
        codes(flags.data)[known] = np.where(graph[codes(names.readable)[launch[known]]], in_graph, plain)
    again = np.concatenate([np.zeros(0, dtype=np.int64), *repeated])
    return len(again), int(again[0]) if len(again) else 0


def _launching_calls(calls: _Rows, correlations: "Numbers", begun: "Numbers", starts: "Numbers") -> "Numbers":
    """Return the API call that launched each activity, found by correlation id.

    If several calls have the activity's id, use the last call that began before the activity, or else the first call.
    """
    import numpy as np

    found = calls.first(correlations)
    low, count = calls.ranges(correlations)
    for at in np.flatnonzero(count > 1).tolist():
        mine = calls.rows[low[at] : low[at] + count[at]]
        earlier = mine[begun[mine] <= starts[at]]
        if len(earlier):
            found[at] = earlier[-1]
    return found


def _forward(trace: LinkedTrace) -> None:
    """Link backward operators to forward operators, by the forward thread and the sequence number that both share."""
    operators = trace.operators
    of_thread = operators.numbers("forward_thread")
    if not len(operators) or of_thread.extremes() in {(0, 0), (NOTHING, NOTHING)}:
        return
    sequences, threads = view(operators.numbers("sequence").readable), view(of_thread.readable)
    is_forward = (threads == 0) | (threads == NOTHING)
    for (mine,) in _by_rank(operators):
        backward = mine[~is_forward[mine] & (sequences[mine] > ELSEWHERE)]
        if len(backward):
            # Nested operators share the number. The outermost operator comes first; its frame identifies the module.
            ahead = _Rows(sequences, mine[is_forward[mine] & (sequences[mine] >= 0)])
            view(operators.numbers("forward").data)[backward] = ahead.first(sequences[backward])


def alike(columns: "list[Codes]", rows: "Numbers") -> "list[Numbers]":
    """Group rows whose codes are equal in all columns, and return the groups ordered by first row.

    A code of -1 means no value.
    """
    import numpy as np

    key, size = np.zeros(len(rows), dtype=np.int64), 1
    for column in columns:
        count = int(column.max(initial=-1)) + 2
        if size * count >= _MOST_CODES:
            known, key = np.unique(key, return_inverse=True)
            size = len(known)
        size *= count
        key = key * count + column + 1
    order = np.argsort(key, kind="stable")
    groups = np.split(rows[order], np.flatnonzero(np.diff(key[order])) + 1)
    return sorted((group for group in groups if len(group)), key=lambda group: int(group[0]))


def stack_of(trace: LinkedTrace, activity: Activity) -> list[Operator | PythonFrame]:
    """Return the operators and frames around an activity's launch on the CPU, innermost first."""
    launch = trace.launches[activity.launch] if activity.launch >= 0 else None
    operators: list[Operator | PythonFrame] = list(trace.operator_chain(activity.operator))
    frame = launch.frame if launch is not None else trace.operators[activity.operator].frame if operators else -1
    both = operators + list(trace.frame_chain(frame))
    both.sort(key=lambda r: (-r.start_ns, r.duration_ns))
    return both
