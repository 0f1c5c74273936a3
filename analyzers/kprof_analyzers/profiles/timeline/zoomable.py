"""A trace's streams as spans that a page can zoom into: as fine as a number of spans allows."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from kprof.inputs.torch_profiler.model import LinkedTrace

SPANS = 60_000
"""Of all streams together: about 1.2 MB on a page."""

_Run = tuple[int, int, int]
"""Start, duration and label of an activity."""


class StreamSpans(msgspec.Struct, frozen=True):
    """What one stream did, in the order of its starts. The three lists are equally long; times are in ns.

    Attributes:
        starts: from the beginning of the timeline.
        durations: of the activity; of several that are put together from the first start to the last end.
        labels: positions in the timeline's ``labels``: of several the one that takes most time.
        together: position of a span to how many activities it is, and how long they ran.
    """

    rank: int
    device: int | None
    stream: int | None
    starts: list[int]
    durations: list[int]
    labels: list[int]
    together: dict[int, tuple[int, int]]


class ZoomableTimeline(msgspec.Struct, frozen=True):
    """All streams of a trace.

    Attributes:
        first_ns: the trace's time at the beginning of the timeline.
        span_ns: from there to the last end.
        resolution_ns: activities shorter than that which begin in the same stretch of that length are put together; 0
            where each has its own span.
        labels: names with their category.
        streams: by rank, device and stream.
        activities: how many there are.
    """

    first_ns: int
    span_ns: int
    resolution_ns: int
    labels: list[tuple[str, str]]
    streams: list[StreamSpans]
    activities: int


def zoomable(trace: LinkedTrace, categories: Sequence[str], most: int = SPANS) -> ZoomableTimeline:
    """The activities of each stream as spans.

    Args:
        trace: linked tables.
        categories: of each activity, in their order.
        most: spans of all streams together; the resolution is the finest power of two that gives no more.
    """
    labels: dict[tuple[str, str], int] = {}
    lanes: defaultdict[tuple[int, int | None, int | None], list[_Run]] = defaultdict(list)
    names = trace.activities.words("name")
    fields = ("rank", "device", "stream", "start_ns", "duration_ns")
    columns = (trace.activities.numbers(field).data for field in fields)
    for row, (rank, device, stream, start, duration) in enumerate(zip(*columns, strict=True)):
        label = labels.setdefault((names[row], categories[row]), len(labels))
        lanes[rank, device, stream].append((start, duration, label))
    runs = [run for lane in lanes.values() for run in lane]
    if not runs:
        return ZoomableTimeline(0, 0, 0, [], [], 0)
    first, last = min(run[0] for run in runs), max(run[0] + run[1] for run in runs)
    resolution = _resolution(list(lanes.values()), len(runs), most)
    found = [
        _spans(StreamSpans(*lane, [], [], [], {}), sorted(lanes[lane]), first, resolution)
        for lane in sorted(lanes, key=lambda one: tuple(-1 if part is None else part for part in one))
    ]
    return ZoomableTimeline(first, last - first, resolution, list(labels), found, len(runs))


def _resolution(lanes: Sequence[Sequence[_Run]], count: int, most: int) -> int:
    """The finest power of two in ns that leaves few enough spans; 0 where there are few anyway."""
    resolution = 0
    while count > most:
        resolution = 2 * resolution or 1024
        count = 0
        for lane in lanes:
            stretches = {start // resolution for start, duration, _ in lane if duration < resolution}
            count += len(stretches) + sum(duration >= resolution for _, duration, _ in lane)
    return resolution


def _spans(found: StreamSpans, runs: Sequence[_Run], first: int, resolution: int) -> StreamSpans:
    """A stream, filled."""
    for group in _groups(runs, resolution):
        times: Counter[int] = Counter()
        for _, duration, label in group:
            times[label] += duration
        if len(group) > 1:
            found.together[len(found.starts)] = (len(group), sum(times.values()))
        found.labels.append(times.most_common(1)[0][0])
        found.starts.append(group[0][0] - first)
        found.durations.append(max(start + duration for start, duration, _ in group) - group[0][0])
    return found


def _groups(runs: Sequence[_Run], resolution: int) -> Iterator[list[_Run]]:
    """Yield groups of consecutive short activities that begin in the same stretch of ``resolution`` ns.

    A longer activity is a group of its own: it separates the short ones before it from those after it.
    """
    group: list[_Run] = []
    for run in runs:
        short = resolution and run[1] < resolution
        if group and short and group[0][0] // resolution == run[0] // resolution and group[0][1] < resolution:
            group.append(run)
            continue
        if group:
            yield group
        group = [run]
    if group:
        yield group
