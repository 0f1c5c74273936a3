"""Prepare a trace's streams as spans for a zoomable page, as detailed as the maximum number of spans allows."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from kprof.inputs.torch_profiler.model import LinkedTrace

SPANS = 60_000
"""Maximum number of spans of all streams together. They take about 1.2 MB on a page."""

_Run = tuple[int, int, int]
"""Start in ns, duration in ns and position of the label of an activity."""


class StreamSpans(msgspec.Struct, frozen=True):
    """Spans of one stream in the order of their starts. The three lists have equal length; times are in ns.

    Attributes:
        starts: starts relative to the beginning of the timeline.
        durations: duration of the activity; for merged activities the time from the first start to the last end.
        labels: positions in the timeline's ``labels``; for merged activities that of the label with the most time.
        together: number and total duration of the activities merged into a span, by position of the span.
    """

    rank: int
    device: int | None
    stream: int | None
    starts: list[int]
    durations: list[int]
    labels: list[int]
    together: dict[int, tuple[int, int]]


class ZoomableTimeline(msgspec.Struct, frozen=True):
    """All streams of a trace as spans.

    Attributes:
        first_ns: time in the trace at the beginning of the timeline.
        span_ns: time from the beginning to the last end.
        resolution_ns: length of the intervals in which activities are merged: those that begin in the same interval
            and are shorter than it share a span. 0 if every activity has its own span.
        labels: names of activities, each with its category.
        streams: streams by rank, device and stream.
        activities: number of activities.
    """

    first_ns: int
    span_ns: int
    resolution_ns: int
    labels: list[tuple[str, str]]
    streams: list[StreamSpans]
    activities: int


def zoomable(trace: LinkedTrace, categories: Sequence[str], most: int = SPANS) -> ZoomableTimeline:
    """Return the activities of each stream as spans.

    Args:
        trace: linked tables.
        categories: category of each activity, in order.
        most: maximum number of spans of all streams; the resolution is the finest sufficient power of two.
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
    """Return the finest power of two in ns for which there are few enough spans; 0 if none need to be merged."""
    resolution = 0
    while count > most:
        resolution = 2 * resolution or 1024
        count = 0
        for lane in lanes:
            stretches = {start // resolution for start, duration, _ in lane if duration < resolution}
            count += len(stretches) + sum(duration >= resolution for _, duration, _ in lane)
    return resolution


def _spans(found: StreamSpans, runs: Sequence[_Run], first: int, resolution: int) -> StreamSpans:
    """Fill a stream with the spans of its activities, and return it."""
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

    A longer activity is a separate group; it also separates the short ones before it from those after it.
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
