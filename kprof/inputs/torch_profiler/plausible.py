"""Times that cannot be, and what looks untrustworthy: taken out or flagged, and always reported."""

from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.model import Activity, Trace

# No profiler session is known to hold an hour; a day without any activity means that a clock went wrong.
DAY_NS = 86_400 * 10**9


def drop_implausible(trace: Trace, log: IssueLog) -> None:
    """Take out GPU activities that lie a day or more away from the bulk of them."""
    if not trace.activities:
        return
    low, high = bulk_range(sorted(a.start_ns for a in trace.activities))
    kept = [a for a in trace.activities if low <= a.start_ns <= high and a.duration_ns < DAY_NS]
    lost = len(trace.activities) - len(kept)
    if lost:
        log.add(
            "absurd-time",
            "a GPU activity lies a day or more from the others, or lasts a day: left out",
            count=lost,
            lost=lost,
        )
        trace.activities = kept


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


def note_oddities(trace: Trace, log: IssueLog) -> None:
    """Zero durations, repeated events and overlaps within one stream."""
    zero = sum(1 for a in trace.activities if a.kind == "kernel" and a.duration_ns == 0)
    if zero:
        log.add(
            "zero-duration",
            f"{zero:,} kernels have a duration of 0: the clock was coarser than the kernel",
        )
    by_stream: dict[tuple[int, int | None, int | None], list[Activity]] = {}
    for activity in trace.activities:
        by_stream.setdefault((activity.rank, activity.device, activity.stream), []).append(activity)
    repeated = overlapping = 0
    for activities in by_stream.values():
        activities.sort(key=lambda a: (a.start_ns, a.duration_ns, a.name))
        end = None
        last = None
        for activity in activities:
            if last is not None and _same(last, activity):
                repeated += 1
            elif end is not None and activity.start_ns < end:
                overlapping += 1
            end = activity.end_ns if end is None else max(end, activity.end_ns)
            last = activity
    if repeated:
        log.add(
            "repeated-activity",
            f"{repeated:,} GPU activities stand in the trace twice (same stream, time, name and id): sums count both",
        )
    if overlapping:
        log.add("overlap-in-stream", f"{overlapping:,} GPU activities overlap another one of the same stream")


def _same(a: Activity, b: Activity) -> bool:
    return (
        a.start_ns == b.start_ns
        and a.duration_ns == b.duration_ns > 0
        and a.name == b.name
        and a.correlation == b.correlation
    )
