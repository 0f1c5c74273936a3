"""Drop or flag impossible times and other implausible data, and report all of them."""

from array import array

from kprof.inputs.completeness import judge
from kprof.inputs.torch_profiler.columns import OptionalIntegers
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.link import codes, link, view
from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof.inputs.torch_profiler.times import DAY_NS


def note_huge(trace: LinkedTrace, log: IssueLog) -> None:
    """Report ids and other integers beyond 64 bits."""
    for table in (trace.activities, trace.launches, trace.operators, trace.frames, trace.memory):
        for name in table.kind.__struct_fields__:
            column = table.column(name)
            if isinstance(column, OptionalIntegers):
                words = "a number does not fit into 64 bits: it is not linked, and is missing in Parquet and pandas"
                log.add("huge-integer", words, place=name, count=column.huge)


def drop_implausible(trace: LinkedTrace, log: IssueLog) -> None:
    """Drop GPU activities whose times are a day or more away from the largest group of activities."""
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
    """Return first and last start of the largest group without a gap of a day; ``starts`` is sorted and not empty."""
    best = (0, 0)
    begin = 0
    for index in range(1, len(starts) + 1):
        if index == len(starts) or starts[index] - starts[index - 1] >= DAY_NS:
            if index - begin > best[1] - best[0]:
                best = (begin, index)
            begin = index
    return starts[best[0]], starts[best[1] - 1]


def note_oddities(trace: LinkedTrace, log: IssueLog) -> int:
    """Report zero durations and repeated events; return the number of overlaps within a stream."""
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
    repeated, overlapping = _collisions(trace)
    if repeated:
        log.add(
            "repeated-activity",
            f"{repeated:,} GPU activities occur twice in the trace (same stream, time, name and id): sums count both",
        )
    return overlapping


def _collisions(trace: LinkedTrace) -> tuple[int, int]:
    """Return the number of repeated activities, and of other activities that overlap an earlier one in their stream."""
    import numpy as np

    table = trace.activities
    fields = ("rank", "device", "stream", "start_ns", "duration_ns", "correlation")
    ranks, devices, streams, starts, durations, correlations = (view(table.numbers(field).readable) for field in fields)
    names = codes(table.words("name").readable)
    order = np.lexsort((names, durations, starts, streams, devices, ranks))
    same_stream = np.logical_and.reduce([np.diff(column[order]) == 0 for column in (ranks, devices, streams)])
    same = same_stream & (durations[order][1:] > 0)
    for column in (starts, durations, names, correlations):
        same &= column[order][1:] == column[order][:-1]
    overlapping = 0
    for mine in np.split(np.arange(len(order)), np.flatnonzero(~same_stream) + 1):
        begun = starts[order[mine]]
        latest = np.maximum.accumulate(begun + durations[order[mine]])
        overlapping += int(((begun[1:] < latest[:-1]) & ~same[mine[:-1]]).sum())
    return int(same.sum()), overlapping


def complete(trace: LinkedTrace, log: IssueLog, no_gpu_cure: str) -> None:
    """Link the tables that a reader has filled, and report problems and missing data.

    Args:
        trace: tables of the trace.
        log: issues of the file; they become the trace's issues.
        no_gpu_cure: advice on how to record the GPU with this profiler.
    """
    drop_implausible(trace, log)
    link(trace, log)
    judge(trace, log, overlapping=note_oddities(trace, log), no_gpu_cure=no_gpu_cure)
    trace.issues = log.all()
