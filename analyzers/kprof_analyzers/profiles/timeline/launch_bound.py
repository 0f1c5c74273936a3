"""Find stretches in which the GPU waits for the CPU before each kernel; fusing, batching or graphs may help there."""

from collections import Counter, defaultdict
from collections.abc import Callable

import msgspec

from kprof.inputs.torch_profiler.model import LinkedTrace


class Stretch(msgspec.Struct, frozen=True):
    """A sequence of activities, each of which started as soon as it was launched.

    Attributes:
        busy_ns, idle_ns: busy and idle GPU time in the stretch.
        launches: number of activities.
        mean_kernel_ns: mean duration of an activity.
        mean_interval_ns: mean time between two starts, which is the CPU's time for one launch.
        operators: operators that launched most of the activities, with their counts.
    """

    rank: int
    device: int | None
    start_ns: int
    duration_ns: int
    busy_ns: int
    idle_ns: int
    launches: int
    mean_kernel_ns: float
    mean_interval_ns: float
    operators: dict[str, int]


def launch_bound_stretches(
    trace: LinkedTrace, *, at_least: int = 10, slack_ns: int = 20_000, idle_share: float = 0.3
) -> list[Stretch]:
    """Return sequences of ``at_least`` activities on one device, largest idle time first.

    An activity is starved if the device was idle before it, and it started within ``slack_ns`` after its launch call
    returned. A sequence may contain a few activities that are not starved. A sequence is returned if the device was
    idle for at least ``idle_share`` of its time.
    """
    by_device: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(*(trace.activities.numbers(n).data for n in ("rank", "device")), strict=True)):
        by_device[key].append(row)
    starts = trace.activities.numbers("start_ns").data
    found: list[Stretch] = []
    for rows in by_device.values():
        rows.sort(key=starts.__getitem__)
        for run in _runs(trace, rows, slack_ns):
            stretch = _stretch(trace, run) if len(run) >= at_least else None
            if stretch is not None and stretch.idle_ns >= idle_share * stretch.duration_ns:
                found.append(stretch)
    return sorted(found, key=lambda s: (-s.idle_ns, s.start_ns))


def _runs(trace: LinkedTrace, rows: list[int], slack_ns: int) -> list[list[int]]:
    starts, durations = (trace.activities.numbers(n).data for n in ("start_ns", "duration_ns"))
    just_launched = _just_launched(trace, slack_ns)
    runs: list[list[int]] = []
    run: list[int] = []
    fed = 0
    end = None
    for row in rows:
        if end is not None and starts[row] > end and just_launched(row):
            fed = 0
            run.append(row)
        else:
            fed += 1
            if run and fed <= 3:
                run.append(row)
            elif run:
                runs.append(run[: len(run) - 3])
                run = []
        stop = starts[row] + durations[row]
        end = stop if end is None else max(end, stop)
    if run:
        runs.append(run[: len(run) - fed])
    return runs


def _just_launched(trace: LinkedTrace, slack_ns: int) -> Callable[[int], bool]:
    """Return a function that returns whether the activity in a row started soon after its launch call returned."""
    launches, graph = trace.activities.numbers("launch").data, trace.activities.words("graph")
    starts = trace.activities.numbers("start_ns").data
    called, lasted = (trace.launches.numbers(n).data for n in ("start_ns", "duration_ns"))

    def tell(row: int) -> bool:
        launch = launches[row]
        if launch < 0 or graph[row]:
            return False
        return starts[row] - (called[launch] + lasted[launch]) <= slack_ns

    return tell


def _stretch(trace: LinkedTrace, run: list[int]) -> Stretch:
    starts, durations, operators = (trace.activities.numbers(n).data for n in ("start_ns", "duration_ns", "operator"))
    start = starts[run[0]]
    end = start
    busy = 0
    for row in run:
        stop = starts[row] + durations[row]
        busy += max(0, stop - max(end, starts[row]))
        end = max(end, stop)
    names = Counter(trace.operator_name(operators[row]) for row in run if operators[row] >= 0)
    first = trace.activities[run[0]]
    return Stretch(
        first.rank,
        first.device,
        start,
        end - start,
        busy,
        end - start - busy,
        len(run),
        sum(durations[row] for row in run) / len(run),
        (starts[run[-1]] - start) / max(1, len(run) - 1),
        dict(names.most_common(5)),
    )
