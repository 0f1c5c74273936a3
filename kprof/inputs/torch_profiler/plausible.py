"""Times that cannot be, and what looks untrustworthy: taken out or flagged, and always reported."""

from array import array

from kprof.inputs.torch_profiler import link_columns
from kprof.inputs.torch_profiler.columns import OptionalIntegers
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof.inputs.torch_profiler.times import DAY_NS


def note_huge(trace: LinkedTrace, log: IssueLog) -> None:
    """Ids and other numbers beyond 64 bits."""
    for table in (trace.activities, trace.launches, trace.operators, trace.frames, trace.memory):
        for name in table.kind.__struct_fields__:
            column = table.column(name)
            if isinstance(column, OptionalIntegers):
                words = "a number does not fit 64 bits: it links to nothing, and is missing in Parquet and pandas"
                log.add("huge-integer", words, place=name, count=column.huge)


def drop_implausible(trace: LinkedTrace, log: IssueLog) -> None:
    """Take out GPU activities that lie a day or more away from the bulk of them."""
    if not len(trace.activities):
        return
    starts = trace.activities.numbers("start_ns").readable
    if max(starts) - min(starts) < DAY_NS:
        return
    low, high = bulk_range(sorted(starts))
    kept = array("q", (row for row, start in enumerate(starts) if low <= start <= high))
    lost = len(starts) - len(kept)
    if lost:
        log.add(
            "absurd-time",
            "a GPU activity lies a day or more from the others: left out",
            count=lost,
            lost=lost,
        )
        trace.activities.keep(kept)


def bulk_range(starts: list[int]) -> tuple[int, int]:
    """First and last start of the largest group without a day's gap in it; ``starts`` is sorted and not empty."""
    best = (0, 0)
    begin = 0
    for index in range(1, len(starts) + 1):
        if index == len(starts) or starts[index] - starts[index - 1] >= DAY_NS:
            if index - begin > best[1] - best[0]:
                best = (begin, index)
            begin = index
    return starts[best[0]], starts[best[1] - 1]


def note_oddities(trace: LinkedTrace, log: IssueLog) -> int:
    """Note zero durations and repeated events; return the number of overlaps within one stream."""
    table = trace.activities
    durations, kinds = table.numbers("duration_ns").readable, table.words("kind")
    zero = 0
    if not all(durations):
        zero = sum(1 for row, duration in enumerate(durations) if duration == 0 and kinds[row] == "kernel")
    if zero:
        log.add(
            "zero-duration",
            f"{zero:,} kernels have a duration of 0: the clock was coarser than the kernel",
        )
    repeated, overlapping = link_columns.collisions(trace) if link_columns.is_worth_it(trace) else _collisions(trace)
    if repeated:
        log.add(
            "repeated-activity",
            f"{repeated:,} GPU activities stand in the trace twice (same stream, time, name and id): sums count both",
        )
    return overlapping


def _collisions(trace: LinkedTrace) -> tuple[int, int]:
    """Activities that are there twice, and others that begin before an earlier one of their stream has ended."""
    table = trace.activities
    streams: dict[tuple[int, int, int], array[int]] = {}
    for row, key in enumerate(zip(*(table.numbers(n).data for n in ("rank", "device", "stream")), strict=True)):
        found = streams.get(key)
        if found is None:
            found = streams[key] = array("q")
        found.append(row)
    repeated = overlapping = 0
    for rows in streams.values():
        twice, over = _collisions_of_stream(trace, rows)
        repeated += twice
        overlapping += over
    return repeated, overlapping


def _collisions_of_stream(trace: LinkedTrace, rows: "array[int]") -> tuple[int, int]:
    table = trace.activities
    starts, durations = table.numbers("start_ns").data, table.numbers("duration_ns").data
    names, correlations = table.words("name").data, table.numbers("correlation").data
    order = sorted(rows, key=names.__getitem__)
    order.sort(key=durations.__getitem__)
    order.sort(key=starts.__getitem__)
    repeated = overlapping = 0
    end, last = None, -1
    for row in order:
        start, duration = starts[row], durations[row]
        same = (
            last >= 0
            and start == starts[last]
            and duration == durations[last] > 0
            and names[row] == names[last]
            and correlations[row] == correlations[last]
        )
        if same:
            repeated += 1
        elif end is not None and start < end:
            overlapping += 1
        end = start + duration if end is None else max(end, start + duration)
        last = row
    return repeated, overlapping
