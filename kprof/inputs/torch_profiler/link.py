"""Launch to kernel to CPU operator to Python module: by correlation id, by external id, by nesting in time."""

from collections import defaultdict
from collections.abc import Sequence

from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.model import Activity, Frame, Launch, Operator, Trace

# Which of two things that start at the same moment is around the other, where the lengths do not tell.
_FRAME, _OPERATOR, _LAUNCH = 0, 1, 2


def link(trace: Trace, log: IssueLog) -> None:
    """Fill in every index of the tables."""
    _nest(trace)
    _forward(trace)
    by_correlation = _launches_by_correlation(trace, log)
    by_external = _operators_by_external_id(trace)
    unlaunched = 0
    for activity in trace.activities:
        index = _launch_of(activity, by_correlation, trace.launches)
        activity.launch = index
        if index >= 0:
            launch = trace.launches[index]
            launch.activities += 1
            activity.operator = launch.operator
            activity.graph = "GraphLaunch" in launch.name
        elif activity.correlation is not None:
            unlaunched += 1
        if activity.operator < 0 and activity.external_id is not None:
            activity.operator = by_external.get((activity.rank, activity.external_id), -1)
    if unlaunched and trace.launches:
        log.add(
            "no-launch",
            f"{unlaunched:,} of {len(trace.activities):,} GPU activities have no launch in the trace: "
            "it began while work was in flight",
            count=1,
        )


def _nest(trace: Trace) -> None:
    threads: dict[tuple[int, int | None], list[tuple[int, int, int, int]]] = defaultdict(list)
    tables: tuple[tuple[int, Sequence[Frame | Operator | Launch]], ...] = (
        (_FRAME, trace.frames),
        (_OPERATOR, trace.operators),
        (_LAUNCH, trace.launches),
    )
    for kind, records in tables:
        for index, record in enumerate(records):
            threads[record.rank, record.thread].append((record.start_ns, -record.duration_ns, kind, index))
    for items in threads.values():
        items.sort()
        _nest_thread(trace, items)


def _nest_thread(trace: Trace, items: list[tuple[int, int, int, int]]) -> None:
    """One sweep over a thread; a stack for the frames and one for the operators that are open."""
    frames: list[tuple[int, int]] = []
    operators: list[tuple[int, int]] = []
    for start, minus_duration, kind, index in items:
        while frames and frames[-1][0] <= start:
            frames.pop()
        while operators and operators[-1][0] <= start:
            operators.pop()
        frame = frames[-1][1] if frames else -1
        operator = operators[-1][1] if operators else -1
        end = start - minus_duration
        if kind == _FRAME:
            trace.frames[index].parent = frame
            frames.append((end, index))
        elif kind == _OPERATOR:
            record = trace.operators[index]
            record.parent, record.frame = operator, frame
            operators.append((end, index))
        else:
            launch = trace.launches[index]
            launch.operator, launch.frame = operator, frame


def _forward(trace: Trace) -> None:
    """Backward operators name the thread of their forward pass and share its sequence number."""
    forward: dict[tuple[int, int], int] = {}
    for index, operator in enumerate(trace.operators):
        if operator.sequence is not None and operator.sequence >= 0 and not operator.forward_thread:
            # Nested operators repeat the number; the outermost comes first and carries the module.
            forward.setdefault((operator.rank, operator.sequence), index)
    for operator in trace.operators:
        if operator.forward_thread and operator.sequence is not None:
            operator.forward = forward.get((operator.rank, operator.sequence), -1)


def _launches_by_correlation(trace: Trace, log: IssueLog) -> dict[tuple[int, int], list[int]]:
    found: dict[tuple[int, int], list[int]] = {}
    for index, launch in enumerate(trace.launches):
        if launch.correlation is None:
            continue
        same = found.setdefault((launch.rank, launch.correlation), [])
        same.append(index)
        if len(same) > 1:
            log.add(
                "duplicate-correlation",
                "a correlation id stands on several API calls; the last call before the kernel's start was taken",
                place=f"correlation {launch.correlation}",
            )
    for same in found.values():
        if len(same) > 1:
            same.sort(key=lambda i: trace.launches[i].start_ns)
    return found


def _launch_of(activity: Activity, by_correlation: dict[tuple[int, int], list[int]], launches: list[Launch]) -> int:
    if activity.correlation is None:
        return -1
    same = by_correlation.get((activity.rank, activity.correlation))
    if not same:
        return -1
    best = same[0]
    for index in same[1:]:
        if launches[index].start_ns <= activity.start_ns:
            best = index
    return best


def _operators_by_external_id(trace: Trace) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for index, operator in enumerate(trace.operators):
        if operator.external_id is not None:
            found.setdefault((operator.rank, operator.external_id), index)
    return found


def stack_of(trace: Trace, activity: Activity) -> list[Operator | Frame]:
    """Everything around an activity's launch on the CPU, innermost first, operators and frames by time."""
    launch = trace.launches[activity.launch] if activity.launch >= 0 else None
    operators: list[Operator | Frame] = list(trace.operator_chain(activity.operator))
    frame = launch.frame if launch is not None else trace.operators[activity.operator].frame if operators else -1
    both = operators + list(trace.frame_chain(frame))
    both.sort(key=lambda r: (-r.start_ns, r.duration_ns))
    return both
