"""Stretches in which the GPU waits for the CPU kernel after kernel: work to be fused, batched or captured."""

from collections import Counter, defaultdict

import msgspec

from kprof.inputs.torch_profiler.model import Activity, Trace


class Stretch(msgspec.Struct, frozen=True):
    """A run of activities each of which started as soon as it had been launched.

    Attributes:
        busy_ns, idle_ns: GPU time in the stretch.
        launches: activities in it.
        mean_kernel_ns: average duration.
        mean_interval_ns: average time between two starts: what the CPU needs for one launch.
        operators: operators that launched most of them, to count.
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
    trace: Trace, *, at_least: int = 10, slack_ns: int = 20_000, idle_share: float = 0.3
) -> list[Stretch]:
    """Runs of ``at_least`` activities on one device, largest idle time first.

    An activity is starved when the device was idle before it and it started within ``slack_ns`` of its launch call's
    return; a run may hold a few that are not. A run counts when the device was idle for ``idle_share`` of it.
    """
    by_device: defaultdict[tuple[int, int | None], list[Activity]] = defaultdict(list)
    for activity in trace.activities:
        by_device[activity.rank, activity.device].append(activity)
    found: list[Stretch] = []
    for activities in by_device.values():
        activities.sort(key=lambda a: a.start_ns)
        for run in _runs(trace, activities, slack_ns):
            stretch = _stretch(trace, run) if len(run) >= at_least else None
            if stretch is not None and stretch.idle_ns >= idle_share * stretch.duration_ns:
                found.append(stretch)
    return sorted(found, key=lambda s: (-s.idle_ns, s.start_ns))


def _runs(trace: Trace, activities: list[Activity], slack_ns: int) -> list[list[Activity]]:
    runs: list[list[Activity]] = []
    run: list[Activity] = []
    fed = 0
    end = None
    for activity in activities:
        if end is not None and activity.start_ns > end and _just_launched(trace, activity, slack_ns):
            fed = 0
            run.append(activity)
        else:
            fed += 1
            if run and fed <= 3:
                run.append(activity)
            elif run:
                runs.append(run[: len(run) - 3])
                run = []
        end = activity.end_ns if end is None else max(end, activity.end_ns)
    if run:
        runs.append(run[: len(run) - fed])
    return runs


def _just_launched(trace: Trace, activity: Activity, slack_ns: int) -> bool:
    if activity.launch < 0 or activity.graph:
        return False
    launch = trace.launches[activity.launch]
    return activity.start_ns - (launch.start_ns + launch.duration_ns) <= slack_ns


def _stretch(trace: Trace, run: list[Activity]) -> Stretch:
    start = run[0].start_ns
    end = start
    busy = 0
    for activity in run:
        busy += max(0, activity.end_ns - max(end, activity.start_ns))
        end = max(end, activity.end_ns)
    names = Counter(trace.operators[a.operator].name for a in run if a.operator >= 0)
    return Stretch(
        run[0].rank,
        run[0].device,
        start,
        end - start,
        busy,
        end - start - busy,
        len(run),
        sum(a.duration_ns for a in run) / len(run),
        (run[-1].start_ns - start) / max(1, len(run) - 1),
        dict(names.most_common(5)),
    )
