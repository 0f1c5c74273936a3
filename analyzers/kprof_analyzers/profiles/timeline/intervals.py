"""Compute exact unions of time intervals with little memory, to find how long any activity of a kind was running.

Intervals are half open, ``[start, end)``, in whole nanoseconds. A set stores its disjoint intervals in two arrays of
8-byte integers. Small gaps are kept, although closing them would save memory, so sums are exact.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_BUFFER = 32_768
_WINDOW = 8_192
# Number of intervals of each set that numpy merges at a time; limits the temporary memory to some megabytes.
_PIECE = 1 << 18
# From this number of intervals on, importing numpy saves time.
_MANY = 1 << 14


@dataclass(slots=True)
class Disjoint:
    """Sorted intervals that neither overlap nor touch."""

    starts: "array[int]" = field(default_factory=lambda: array("q"))
    ends: "array[int]" = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        """Return the number of intervals."""
        return len(self.starts)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield ``(start, end)`` in order."""
        return zip(self.starts, self.ends, strict=True)

    def length(self) -> int:
        """Return the sum of the lengths in ns."""
        if len(self) < _MANY:
            return sum(self.ends) - sum(self.starts)
        import numpy as np

        total = 0
        for low in range(0, len(self), _PIECE):
            ends = np.frombuffer(self.ends[low : low + _PIECE], dtype=np.int64)
            total += int((ends - np.frombuffer(self.starts[low : low + _PIECE], dtype=np.int64)).sum())
        return total


def union(pairs: Iterable[tuple[int, int]]) -> Disjoint:
    """Return the union of intervals that are sorted by start; empty intervals are ignored."""
    result = Disjoint()
    starts, ends = result.starts, result.ends
    last = None
    for start, end in pairs:
        if end <= start:
            continue
        if last is None or start > last:
            starts.append(start)
            ends.append(end)
            last = end
        else:
            ends[-1] = last = max(last, end)
    return result


def _union_of(starts: "array[int]", ends: "array[int]") -> Disjoint:
    """Return the union of intervals in any order."""
    if len(starts) < _MANY:
        return union(sorted(zip(starts, ends, strict=True)))
    import numpy as np

    begun, ended = np.frombuffer(starts, dtype=np.int64), np.frombuffer(ends, dtype=np.int64)
    order = np.argsort(begun, kind="stable")
    order = order[ended[order] > begun[order]]
    begun, latest = begun[order], np.maximum.accumulate(ended[order])
    first = np.ones(len(begun), dtype=bool)
    first[1:] = begun[1:] > latest[:-1]
    last = np.ones(len(begun), dtype=bool)
    last[:-1] = first[1:]
    result = Disjoint()
    result.starts.frombytes(begun[first].tobytes())
    result.ends.frombytes(latest[last].tobytes())
    return result


def merged(*sets: Disjoint) -> Disjoint:
    """Return the union of several sets."""
    match [s for s in sets if len(s)]:
        case []:
            return Disjoint()
        case [only]:
            return only
        case full if sum(map(len, full)) >= _MANY:
            result = Disjoint()
            for piece in _pieces(full):
                _extend(result, piece)
            return result
        case full:
            return union(_sorted_by_start(full))


def _pieces(sets: list[Disjoint]) -> Iterator[Disjoint]:
    """Yield the union of all sets in pieces, in order of starts; a piece may overlap the end of the one before it."""
    pivots = max(sets, key=len).starts
    at = [0] * len(sets)
    for pivot in range(_PIECE, len(pivots) + _PIECE, _PIECE):
        piece = Disjoint()
        for which, each in enumerate(sets):
            low, high = at[which], bisect_left(each.starts, pivots[pivot]) if pivot < len(pivots) else len(each)
            piece.starts.extend(each.starts[low:high])
            piece.ends.extend(each.ends[low:high])
            at[which] = high
        yield _union_of(piece.starts, piece.ends)


def _extend(left: Disjoint, right: Disjoint) -> None:
    """Append another set to a set; it must not start before the set's last interval starts."""
    skip = 0
    if len(left):
        skip = bisect_right(right.starts, left.ends[-1])
        if skip:
            left.ends[-1] = max(left.ends[-1], right.ends[skip - 1])
    left.starts.extend(right.starts[skip:])
    left.ends.extend(right.ends[skip:])


def _sorted_by_start(sets: list[Disjoint]) -> Iterator[tuple[int, int]]:
    """Yield all intervals by start. Windows of a few thousand are sorted, which is much faster than a heap."""
    if not sets:
        return
    pivots = max(sets, key=len).starts
    at = [0] * len(sets)
    for pivot in range(_WINDOW, len(pivots) + _WINDOW, _WINDOW):
        window: list[tuple[int, int]] = []
        for which, each in enumerate(sets):
            low, high = at[which], bisect_left(each.starts, pivots[pivot]) if pivot < len(pivots) else len(each)
            window += zip(each.starts[low:high], each.ends[low:high], strict=True)
            at[which] = high
        window.sort()
        yield from window


def subtract(left: Disjoint, right: Disjoint) -> Disjoint:
    """Return the time in ``left`` that is not in ``right``."""
    if not len(right):
        return left
    result = Disjoint()
    first = 0
    for start, end in left:
        first = bisect_right(right.ends, start, first)
        at = start
        for hole in range(first, bisect_left(right.starts, end, first)):
            if right.starts[hole] > at:
                result.starts.append(at)
                result.ends.append(right.starts[hole])
            at = right.ends[hole]
        if at < end:
            result.starts.append(at)
            result.ends.append(end)
    return result


def gaps(busy: Disjoint) -> Iterator[tuple[int, int]]:
    """Yield the intervals between those of a set."""
    for index in range(1, len(busy)):
        yield busy.ends[index - 1], busy.starts[index]


class IntervalSet:
    """A set to which intervals can be added in any order; adding in nearly sorted order is fastest."""

    def __init__(self) -> None:
        self._starts = array("q")
        self._ends = array("q")
        self._runs: list[Disjoint] = []

    def add(self, start: int, end: int) -> None:
        """Add the interval ``[start, end)``."""
        self._starts.append(start)
        self._ends.append(end)
        if len(self._starts) >= _BUFFER:
            self._flush()

    def add_many(self, starts: list[int], ends: list[int]) -> None:
        """Add intervals by their starts and ends."""
        self._starts.extend(starts)
        self._ends.extend(ends)

    def add_disjoint(self, intervals: Disjoint) -> None:
        """Add the union of other intervals."""
        self._starts.extend(intervals.starts)
        self._ends.extend(intervals.ends)
        self._flush()

    def settle(self) -> None:
        """Merge pending intervals if there are many; call it when all intervals up to a time have been added."""
        if len(self._starts) >= _BUFFER:
            self._flush()

    def disjoint(self) -> Disjoint:
        """Return the union of all added intervals."""
        self._flush()
        whole = merged(*self._runs)
        self._runs = [whole]
        return whole

    def _flush(self) -> None:
        if not self._starts:
            return
        run = _union_of(self._starts, self._ends)
        self._starts, self._ends = array("q"), array("q")
        if not len(run):
            return
        self._append(run)
        # Each run is at least twice as long as the next one, so each interval is merged only a few times.
        while len(self._runs) > 1 and len(self._runs[-1]) * 2 > len(self._runs[-2]):
            last = self._runs.pop()
            self._runs.append(merged(self._runs.pop(), last))

    def _append(self, run: Disjoint) -> None:
        """Store a run of intervals: append it to the last run if at most their ends overlap, otherwise separately."""
        if self._runs:
            last = self._runs[-1]
            keep = bisect_left(last.ends, run.starts[0])
            if len(last) - keep <= _BUFFER:
                tail = Disjoint(last.starts[keep:], last.ends[keep:])
                del last.starts[keep:], last.ends[keep:]
                run = merged(tail, run)
                last.starts.extend(run.starts)
                last.ends.extend(run.ends)
                return
        self._runs.append(run)
