"""Launch to kernel to CPU operator to Python module: by correlation id, by external id, by nesting in time.

Everything is done on columns, with row numbers: a trace of gigabytes has tens of millions of records.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import pairwise
from typing import Any

from kprof.inputs.torch_profiler import link_columns
from kprof.inputs.torch_profiler.columns import ELSEWHERE, NOTHING, Records, by_start
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace, Operator, PythonFrame

# Which of two things that start at the same moment is around the other, where the lengths do not tell.
_FRAME, _OPERATOR, _LAUNCH = 0, 1, 2
Item = tuple[int, int, int, int]


class _Lookup:
    """Rows of a table by rank and a number; those that share both in the order in which they are given."""

    def __init__(self, table: Records[Any], field: str, rows: Iterable[int]) -> None:
        numbers, ranks = table.numbers(field).data, table.numbers("rank").data
        by_rank: dict[int, array[int]] = {}
        for row in rows:
            if numbers[row] > ELSEWHERE:
                by_rank.setdefault(ranks[row], array("q")).append(row)
        self._rows = {rank: array("q", sorted(found, key=numbers.__getitem__)) for rank, found in by_rank.items()}
        self._keys = {rank: array("q", map(numbers.__getitem__, found)) for rank, found in self._rows.items()}

    def rows(self, rank: int, number: int) -> "array[int]":
        """The rows; none where the number is not known."""
        keys = self._keys.get(rank)
        if keys is None:
            return array("q")
        low = bisect_left(keys, number)
        if low == len(keys) or keys[low] != number:
            return array("q")
        return self._rows[rank][low : bisect_right(keys, number, low)]

    def repeated(self) -> tuple[int, int]:
        """How many rows share their number with an earlier one, and the first such number."""
        count, first = 0, 0
        for keys in self._keys.values():
            for before, after in pairwise(keys):
                if before == after:
                    first = first if count else after
                    count += 1
        return count, first


def link(trace: LinkedTrace, log: IssueLog) -> None:
    """Fill in every index of the tables."""
    if link_columns.is_worth_it(trace):
        link_columns.nest(trace)
        _forward(trace)
        repeated, number = link_columns.link_activities(trace)
    else:
        _nest(trace)
        _forward(trace)
        repeated, number = _link_activities(trace)
    log.add(
        "duplicate-correlation",
        "a correlation id stands on several API calls; the last call before the kernel's start was taken",
        place=f"correlation {number}",
        count=repeated,
    )


def _link_activities(trace: LinkedTrace) -> tuple[int, int]:
    """Fill in launches and operators of activities; return the number of repeated correlation ids and the first."""
    launches, operators, activities = trace.launches, trace.operators, trace.activities
    starts = launches.numbers("start_ns").data
    by_correlation = _Lookup(launches, "correlation", sorted(range(len(launches)), key=starts.__getitem__))
    by_external = _Lookup(operators, "external_id", range(len(operators)))
    graph = [text is not None and "GraphLaunch" in text for text in launches.words("name").words]
    of_launch, names = launches.numbers("operator").data, launches.words("name").data
    counts = launches.numbers("activities").data
    flags = activities.words("graph")
    plain, in_graph = flags.code(False), flags.code(True)
    launch_column, operator_column = activities.numbers("launch").data, activities.numbers("operator").data
    rows = zip(
        activities.numbers("rank").data,
        activities.numbers("correlation").data,
        activities.numbers("external_id").data,
        activities.numbers("start_ns").data,
        strict=True,
    )
    for index, (rank, correlation, external, start) in enumerate(rows):
        launch = operator = -1
        if correlation != NOTHING:
            launch = _last_before(by_correlation.rows(rank, correlation), starts, start)
        if launch >= 0:
            counts[launch] += 1
            operator = of_launch[launch]
            flags.data[index] = in_graph if graph[names[launch]] else plain
        if operator < 0 and external != NOTHING:
            operator = next(iter(by_external.rows(rank, external)), -1)
        launch_column[index], operator_column[index] = launch, operator
    return by_correlation.repeated()


def _last_before(rows: "array[int]", starts: "array[int]", moment: int) -> int:
    """The last call that had begun by then, else the first; -1 of none."""
    best = -1
    for row in rows:
        if best < 0 or starts[row] <= moment:
            best = row
    return best


def _nest(trace: LinkedTrace) -> None:
    tables: tuple[Records[Any], ...] = (trace.frames, trace.operators, trace.launches)
    threads: dict[tuple[int, int], list[array[int]]] = {}
    for kind, table in enumerate(tables):
        owners = zip(table.numbers("rank").data, table.numbers("thread").data, strict=True)
        for row, owner in enumerate(owners):
            found = threads.get(owner)
            if found is None:
                found = threads[owner] = [array("q") for _ in tables]
            found[kind].append(row)
    for found in threads.values():
        _nest_thread(trace, merge(*(items(table, found[kind], kind) for kind, table in enumerate(tables))))


def items(table: Records[Any], rows: Iterable[int], kind: int) -> Iterator[Item]:
    """Start, duration less than zero, the kind and the row of each, in that order."""
    starts, durations = table.numbers("start_ns").data, table.numbers("duration_ns").data
    for row in by_start(table, rows):
        yield starts[row], -durations[row], kind, row


def _nest_thread(trace: LinkedTrace, found: Iterator[Item]) -> None:
    """One sweep over a thread; a stack for the frames and one for the operators that are open."""
    frame_parent = trace.frames.numbers("parent").data
    operator_parent, operator_frame = (trace.operators.numbers(n).data for n in ("parent", "frame"))
    launch_operator, launch_frame = (trace.launches.numbers(n).data for n in ("operator", "frame"))
    frames: list[tuple[int, int]] = []
    operators: list[tuple[int, int]] = []
    for start, minus_duration, kind, index in found:
        while frames and frames[-1][0] <= start:
            frames.pop()
        while operators and operators[-1][0] <= start:
            operators.pop()
        frame = frames[-1][1] if frames else -1
        operator = operators[-1][1] if operators else -1
        end = start - minus_duration
        if kind == _FRAME:
            frame_parent[index] = frame
            frames.append((end, index))
        elif kind == _OPERATOR:
            operator_parent[index], operator_frame[index] = operator, frame
            operators.append((end, index))
        else:
            launch_operator[index], launch_frame[index] = operator, frame


def _forward(trace: LinkedTrace) -> None:
    """Backward operators name the thread of their forward pass and share its sequence number."""
    operators = trace.operators
    of_thread = operators.numbers("forward_thread")
    if not len(operators) or of_thread.extremes() in {(0, 0), (NOTHING, NOTHING)}:
        return
    sequences, threads = operators.numbers("sequence").data, of_thread.data
    ranks, forward = operators.numbers("rank").data, operators.numbers("forward").data
    backward = [row for row, thread in enumerate(threads) if thread not in {0, NOTHING} and sequences[row] > ELSEWHERE]
    if not backward:
        return
    ahead = (row for row, thread in enumerate(threads) if thread in {0, NOTHING} and sequences[row] >= 0)
    # Nested operators repeat the number; the outermost comes first and carries the module.
    lookup = _Lookup(operators, "sequence", ahead)
    for row in backward:
        forward[row] = next(iter(lookup.rows(ranks[row], sequences[row])), -1)


def stack_of(trace: LinkedTrace, activity: Activity) -> list[Operator | PythonFrame]:
    """Everything around an activity's launch on the CPU, innermost first, operators and frames by time."""
    launch = trace.launches[activity.launch] if activity.launch >= 0 else None
    operators: list[Operator | PythonFrame] = list(trace.operator_chain(activity.operator))
    frame = launch.frame if launch is not None else trace.operators[activity.operator].frame if operators else -1
    both = operators + list(trace.frame_chain(frame))
    both.sort(key=lambda r: (-r.start_ns, r.duration_ns))
    return both
