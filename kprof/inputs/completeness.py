"""Judge whether a recorded timeline or set of counters is complete, and which results are unknown if it is not.

Timeline readers call :func:`judge` or :func:`judge_sums` after reading a file; :data:`NONZERO_COUNTERS` is used to
judge counters. Each fault of a recording becomes an issue: ``unknown`` names the results that it makes unknown, and
``cure`` says how to avoid it. :func:`headline` and :func:`cannot_tell` summarise the issues in words.
"""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Protocol

from kprof.errors import KprofError
from kprof.output.quantities import duration

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.issues import IssueLog
    from kprof.inputs.torch_profiler.model import LinkedTrace

KERNEL_TIMES, BUSY, STEPS, OPERATORS, GAPS = "kernel times", "busy", "steps", "operators", "gaps"
EVERYTHING = (KERNEL_TIMES, BUSY, STEPS, OPERATORS, GAPS)
TOLERATED = 0.01
"""Fraction of launches, activities or GPU time that may be faulty before results count as unknown.

Traces that were found intact by manual inspection lack up to 0.5 % of their launches at the end of the recording.
"""
OVERLONG = 20
"""Multiple of a kernel's median duration above which a duration is considered impossible.

Such a duration must also overlap later activities of its stream.
"""
_ENOUGH_OF_A_KIND = 4
_DATA_LOSS_KINDS = frozenset({"cut-off", "gzip-bomb", "no-events"})
_WARM_UP = "warm-up"
_MAX_SHOWN_ISSUES = 3
_NO_GPU_CURE = "profile with ProfilerActivity.CUDA, which also covers ROCm"
_GRAPH_CURE = (
    "record with ROCm 7.2.2 or later (also the libraries that PyTorch's wheel brings) "
    "or without graphs (vLLM --enforce-eager, SGLang --disable-cuda-graph)"
)


NONZERO_COUNTERS = frozenset({"GRBM_COUNT", "GRBM_GUI_ACTIVE", "SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_BUSY_CYCLES"})
"""Hardware counters that are nonzero for every kernel."""
NEVER_ZERO = "reads 0 in every dispatch, which is impossible: it was not counted"
ZERO_CURE = (
    "on RDNA 4 set the performance level to profile_standard while counters are read "
    "(echo profile_standard | sudo tee /sys/class/drm/card*/device/power_dpm_force_performance_level)"
)


class Doubt(Protocol):
    """Common attributes of the issues of all readers."""

    @property
    def kind(self) -> str:
        """Stable identifier of the issue."""

    @property
    def message(self) -> str:
        """One sentence that describes the issue."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """Results that are unknown because of this issue."""

    @property
    def cure(self) -> str:
        """Advice that makes the results known in the next recording, or ""."""


Repairs = tuple[str, ...]
"""Names of repairs in :data:`REPAIRS`."""


def unknown_of(issue: Doubt) -> tuple[str, ...]:
    """Return the results that an issue makes unknown; if events or records are lost, all results are unknown."""
    lost = getattr(issue, "lost", 0) or issue.kind in _DATA_LOSS_KINDS or getattr(issue, "severity", "") == "error"
    return EVERYTHING if lost else issue.unknown


def headline(issues: Iterable[Doubt]) -> str:
    """Return the recording's faults, the results that are therefore unknown, and the fix; "" for a complete recording.

    >>> headline([])
    ''
    """
    faults = {issue.message: issue for issue in issues if unknown_of(issue)}
    if not faults:
        return ""
    unknown = list(dict.fromkeys(name for issue in faults.values() for name in unknown_of(issue)))
    cures = list(dict.fromkeys(issue.cure for issue in faults.values() if issue.cure))
    messages = [_issue_words(issue) for issue in faults.values()]
    more = f"; {len(messages) - _MAX_SHOWN_ISSUES} more" if len(messages) > _MAX_SHOWN_ISSUES else ""
    listed = unknown[0] if len(unknown) == 1 else f"{', '.join(unknown[:-1])} and {unknown[-1]}"
    verb = "is" if unknown == [BUSY] else "are"
    cure = f". Fix: {'; '.join(cures)}" if cures else ""
    return f"incomplete: {'; '.join(messages[:_MAX_SHOWN_ISSUES])}{more}; {listed} {verb} unknown{cure}"


def with_headline(conclusion: str, issues: Iterable[Doubt]) -> str:
    """Return a conclusion, preceded by the recording's faults if it is incomplete."""
    incomplete = headline(issues)
    return f"{incomplete}. What is recorded: {conclusion}" if incomplete else conclusion


def _issue_words(issue: Doubt) -> str:
    lost = getattr(issue, "lost", 0)
    return f"{issue.message} ({lost:,} event{'s' if lost > 1 else ''} lost)" if lost else issue.message


def too_many(count: int, total: int) -> tuple[str, ...]:
    """Return the results that are unknown because ``count`` of ``total`` records lack times.

    All results are unknown if the fraction without times exceeds :data:`TOLERATED`, else none. A file in which no
    record has a time makes nothing unknown, because counter files may contain no times at all.

    >>> too_many(3, 4) == EVERYTHING, too_many(4, 4), too_many(1, 1000)
    (True, (), ())
    """
    return EVERYTHING if TOLERATED * total < count < total else ()


def cannot_tell(issues: Iterable[Doubt], needed: Sequence[str] = EVERYTHING) -> str:
    """Return why the ``needed`` results are unknown, or "" if they are known."""
    return "; ".join(dict.fromkeys(_issue_words(issue) for issue in issues if set(unknown_of(issue)) & set(needed)))


def is_kernel_launch(name: str) -> bool:
    """Return whether an API call launches a single kernel.

    >>> is_kernel_launch("hipExtModuleLaunchKernel"), is_kernel_launch("hipGraphLaunch")
    (True, False)
    """
    return "LaunchKernel" in name or "LaunchCooperativeKernel" in name


def is_graph_launch(name: str) -> bool:
    """Return whether an API call replays a graph."""
    return "GraphLaunch" in name


def judge(trace: "LinkedTrace", log: "IssueLog", *, overlapping: int, no_gpu_cure: str = _NO_GPU_CURE) -> None:
    """Add an issue for each fault of a linked timeline: lost kernels, missing links, overlaps, wrong clocks.

    Args:
        trace: linked tables of the trace.
        log: log that collects the issues of the file.
        overlapping: number of activities that overlap another activity of their stream.
        no_gpu_cure: advice on how to record the GPU with this profiler.
    """
    if not len(trace.activities):
        if len(trace.launches) or len(trace.operators):
            _no_activity(len(trace.launches), log, no_gpu_cure)
        return
    _unrecorded(trace, log)
    _unlaunched(trace, log)
    _unlinked(trace, log)
    if overlapping:
        _overlaps(trace, log, overlapping)
    _clocks(trace, log)


def judge_sums(kernels: int, launches: Mapping[str, int], log: "IssueLog", *, other_activities: bool) -> None:
    """Judge a trace from its sums alone: compare the number of kernels with the numbers of launches and graph replays.

    Args:
        kernels: number of recorded kernels.
        launches: number of calls by API name.
        log: log that collects the issues of the file.
        other_activities: whether copies or memsets are recorded.
    """
    if not kernels and not other_activities:
        _no_activity(sum(launches.values()), log, _NO_GPU_CURE)
        return
    if any("StreamBeginCapture" in name for name in launches):
        # Launches that are captured into a graph run no kernel, and sums do not distinguish them from other launches.
        return
    single = sum(count for name, count in launches.items() if is_kernel_launch(name))
    replays = sum(count for name, count in launches.items() if is_graph_launch(name))
    missing = single - kernels
    if replays and kernels - single < replays:
        _missing_replays(replays - max(kernels - single, 0), replays, log)
    elif missing > TOLERATED * single:
        _missing_kernels(missing, single, log)


def _no_activity(launches: int, log: "IssueLog", cure: str) -> None:
    calls = f" for {launches:,} API call{'s' if launches > 1 else ''}" if launches else ""
    log.add(
        "no-gpu",
        f"no GPU activity is recorded{calls}",
        unknown=EVERYTHING,
        cure=cure,
    )


def _unrecorded(trace: "LinkedTrace", log: "IssueLog") -> None:
    """Report graph replays and launches for which no kernel was recorded, ignoring launches during a graph capture."""
    launches = trace.launches
    names = launches.words("name")
    kinds = [0 if text is None else 1 if is_graph_launch(text) else 2 if is_kernel_launch(text) else 0
             for text in names.words]  # fmt: skip
    if not any(kinds):
        return
    counts, total, without = launches.numbers("activities").data, [0, 0, 0], [0, 0, 0]
    correlations = launches.numbers("correlation")
    captured = _captures(trace)
    starts = launches.numbers("start_ns").data
    for row, code in enumerate(names.data):
        kind = kinds[code]
        if kind:
            total[kind] += 1
            if not counts[row] and correlations[row] is not None and not (captured and captured(starts[row])):
                without[kind] += 1
    if without[1]:
        _missing_replays(without[1], total[1], log)
    # A kernel without a correlation id may belong to any launch, so such kernels reduce the number of missing kernels.
    missing = without[2] - _kernels_without_id(trace) if without[2] else 0
    if missing > 0:
        _missing_kernels(missing, total[2], log)


def _kernels_without_id(trace: "LinkedTrace") -> int:
    ids, kinds = trace.activities.numbers("correlation"), trace.activities.words("kind")
    return sum(ids[row] is None and kinds[row] == "kernel" for row in range(len(trace.activities)))


def _missing_replays(count: int, total: int, log: "IssueLog") -> None:
    which = f"{count:,}" if count == total else f"{count:,} of {total:,}"
    noun, verb = ("replay", "has") if total == 1 else ("replays", "have" if count != 1 else "has")
    log.add(
        "graph-without-kernels",
        f"{which} graph {noun} {verb} no kernels recorded",
        unknown=EVERYTHING if count > TOLERATED * total else (),
        cure=_GRAPH_CURE,
    )


def _missing_kernels(count: int, total: int, log: "IssueLog") -> None:
    grave = count > TOLERATED * total
    log.add(
        "launch-without-kernel",
        f"{count:,} of {total:,} kernel launches ({count / total:.1%}) have no kernel recorded",
        unknown=EVERYTHING if grave else (),
        cure="synchronize the GPU before the profiler stops" if grave else "",
    )


def _captures(trace: "LinkedTrace") -> "Callable[[int], bool] | None":
    """Return a predicate for whether a time lies within a graph capture, where launches are recorded but do not run."""
    names = trace.launches.words("name")
    marks = {
        code: 1 if "StreamBeginCapture" in text else -1
        for code, text in enumerate(names.words)
        if text is not None and ("StreamBeginCapture" in text or "StreamEndCapture" in text)
    }
    if not marks:
        return None
    starts = trace.launches.numbers("start_ns").data
    edges = sorted((starts[row], marks[code]) for row, code in enumerate(names.data) if code in marks)
    moments, depth, depths = [moment for moment, _ in edges], 0, [0]
    for _, change in edges:
        depth = max(0, depth + change)
        depths.append(depth)
    return lambda moment: depths[bisect_left(moments, moment)] > 0


def warm_up_rows(trace: "LinkedTrace") -> "array[int]":
    """Return the rows of activities that were launched before the recording began.

    No launch in the trace has such an activity's correlation id. The activity also begins before the first activity
    of its rank that has a launch.
    """
    first = _first_launched(trace)
    return array("q", (row for row, rank, start in _without_launch(trace) if start < first.get(rank, start)))


def _without_launch(trace: "LinkedTrace") -> "list[tuple[int, int, int]]":
    """Return row, rank and start of activities whose correlation id belongs to no launch of the trace."""
    if not len(trace.launches):
        return []
    table = trace.activities
    rows = [row for row, launch in enumerate(table.numbers("launch").data) if launch < 0]
    ids, ranks, starts = table.numbers("correlation"), table.numbers("rank").data, table.numbers("start_ns").data
    return [(row, ranks[row], starts[row]) for row in rows if ids[row] is not None]


def _first_launched(trace: "LinkedTrace") -> dict[int, int]:
    table, first = trace.activities, dict[int, int]()
    columns = (table.numbers(field).data for field in ("launch", "rank", "start_ns"))
    for launch, rank, start in zip(*columns, strict=True):
        if launch >= 0 and start < first.get(rank, start + 1):
            first[rank] = start
    return first


def _unlaunched(trace: "LinkedTrace", log: "IssueLog") -> None:
    unlaunched = _without_launch(trace)
    if not unlaunched:
        return
    durations = trace.activities.numbers("duration_ns").data
    total = sum(durations) or 1
    early = set(warm_up_rows(trace))
    for kind, rows in (
        (_WARM_UP, [row for row, _, _ in unlaunched if row in early]),
        ("no-launch", [row for row, _, _ in unlaunched if row not in early]),
    ):
        spent = sum(durations[row] for row in rows)
        if not rows:
            continue
        much = f"{len(rows):,} of {len(durations):,} GPU activities, {spent / 1e6:,.3f} ms ({spent / total:.1%})"
        grave = spent > TOLERATED * total
        if kind == _WARM_UP:
            words = f"{much}, have no launch in the trace: they were launched before the recording began"
            cure = (
                "--exclude-warm-up removes them; a warm-up step and a synchronization before the recording avoid them"
            )
            log.add(kind, words, unknown=(KERNEL_TIMES, BUSY) if grave else (), cure=cure if grave else "")
        else:
            words = f"{much}, have no launch in the trace, although the recording had begun"
            log.add(kind, words, unknown=(OPERATORS, STEPS) if grave else ())


def exclude_warm_up(trace: "LinkedTrace") -> "LinkedTrace":
    """Return the trace without activities that were launched before the recording began."""
    import msgspec

    excluded = set(warm_up_rows(trace))
    if not excluded:
        return trace
    trace.activities.keep(array("q", (row for row in range(len(trace.activities)) if row not in excluded)))
    words = f"{len(excluded):,} GPU activities that were launched before the recording began are left out"
    issues = tuple(
        msgspec.structs.replace(issue, message=words, unknown=(), cure="") if issue.kind == _WARM_UP else issue
        for issue in trace.issues
    )
    return msgspec.structs.replace(trace, issues=issues)


def _unlinked(trace: "LinkedTrace", log: "IssueLog") -> None:
    """Report kernels without a correlation id, which cannot be assigned to operators and steps."""
    if not len(trace.launches):
        return
    table = trace.activities
    ids, kinds = table.numbers("correlation"), table.words("kind")
    operators, durations = table.numbers("operator").data, table.numbers("duration_ns").data
    if not len(trace.operators):
        return
    rows = [row for row, operator in enumerate(operators)
            if operator < 0 and ids[row] is None and kinds[row] == "kernel"]  # fmt: skip
    spent, total = sum(durations[row] for row in rows), sum(durations) or 1
    if spent > TOLERATED * total:
        log.add(
            "no-correlation",
            f"{len(rows):,} kernels, {spent / total:.1%} of GPU time, carry no correlation id",
            unknown=(OPERATORS, STEPS),
        )


def _streams(trace: "LinkedTrace") -> "list[list[int]]":
    """Return the rows of each stream in order of their start times."""
    table = trace.activities
    streams: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(*(table.numbers(n).data for n in ("rank", "device", "stream")), strict=True)):
        streams[key].append(row)
    starts = table.numbers("start_ns").data
    return [sorted(rows, key=starts.__getitem__) for rows in streams.values()]


def capped_durations(trace: "LinkedTrace") -> dict[int, int]:
    """Return the capped duration, by row, of activities with an impossible duration.

    A capped activity ends when the next activity of its stream starts.
    """
    table = trace.activities
    starts, durations, names = table.numbers("start_ns").data, table.numbers("duration_ns").data, table.words("name")
    suspects: dict[int, int] = {}
    for rows in _streams(trace):
        following = None
        for at in range(len(rows) - 1, -1, -1):
            row = rows[at]
            if at + 1 < len(rows) and starts[rows[at + 1]] > starts[row]:
                following = starts[rows[at + 1]]
            if following is not None and starts[row] + durations[row] > following:
                suspects[row] = following - starts[row]
    if not suspects:
        return {}
    wanted = {names.data[row] for row in suspects}
    of_kind: defaultdict[int, list[int]] = defaultdict(list)
    for code, length in zip(names.data, durations, strict=True):
        if code in wanted:
            of_kind[code].append(length)
    usual = {code: median(found) for code, found in of_kind.items() if len(found) >= _ENOUGH_OF_A_KIND}
    return {
        row: cut
        for row, cut in suspects.items()
        if durations[row] > OVERLONG * max(usual.get(names.data[row], durations[row]), cut)
    }


def cap_durations(trace: "LinkedTrace") -> "LinkedTrace":
    """Return the trace with impossible durations capped at the next start on their stream."""
    import msgspec

    durations = trace.activities.numbers("duration_ns").data
    for row, cut in capped_durations(trace).items():
        durations[row] = cut
    issues = tuple(
        msgspec.structs.replace(issue, message=f"capped: {issue.message}", unknown=(), cure="")
        if issue.kind == "overlong"
        else issue
        for issue in trace.issues
    )
    return msgspec.structs.replace(trace, issues=issues)


def _overlaps(trace: "LinkedTrace", log: "IssueLog", overlapping: int) -> None:
    """Report the overlap of activities within streams, and GPU times with and without capping impossible durations."""
    table = trace.activities
    starts, durations, names = table.numbers("start_ns").data, table.numbers("duration_ns").data, table.words("name")
    overlap = 0
    for rows in _streams(trace):
        latest = None
        for row in rows:
            end = starts[row] + durations[row]
            if latest is not None:
                overlap += max(0, min(end, latest) - starts[row])
            latest = end if latest is None else max(latest, end)
    total = sum(durations) or 1
    length = f"{overlap} ns" if overlap < 1000 else duration(overlap / 1e3)
    share = f"{100 * overlap / total:.1f} %" if overlap >= total / 1000 else "less than 0.1 %"
    log.add(
        "overlap-in-stream",
        f"{overlapping:,} GPU activities overlap another one of the same stream, by {length} ({share} of GPU time)",
    )
    capped = capped_durations(trace)
    if not capped:
        return
    name = str(names[max(capped, key=durations.__getitem__)])
    longest, cut = (
        max(durations[row] for row in capped),
        total - sum(durations[row] - capped[row] for row in capped),
    )
    log.add(
        "overlong",
        f"{len(capped):,} of {len(durations):,} GPU activities last up to {longest / 1e6:,.1f} ms, "
        f"over {OVERLONG} times their kernel's median, and overlap the next ones of their stream ({name[:60]}): "
        f"GPU time is {total / 1e6:,.3f} ms as written and {cut / 1e6:,.3f} ms if each ends at the next start",
        unknown=(KERNEL_TIMES, BUSY, STEPS, GAPS),
        cure="--cap-durations ends each of them at the next start on its stream",
    )


def _clocks(trace: "LinkedTrace", log: "IssueLog") -> None:
    """Report activities that begin before their launch, which means that the clocks of CPU and GPU disagree."""
    launches = trace.launches.numbers("start_ns").data
    columns = (trace.activities.numbers(field).data for field in ("launch", "start_ns"))
    linked = early = worst = 0
    for launch, start in zip(*columns, strict=True):
        if launch >= 0:
            linked += 1
            if start < launches[launch]:
                early += 1
                worst = max(worst, launches[launch] - start)
    if early > TOLERATED * linked:
        log.add(
            "clocks-disagree",
            f"{early:,} of {linked:,} GPU activities begin up to {worst / 1e6:,.3f} ms before their launch: "
            "the clocks of CPU and GPU disagree",
            unknown=(GAPS,),
        )


def missing_ranks(world_size: int | None, ranks: Iterable[int]) -> str:
    """Return a sentence about the ranks of a job that were not recorded, or "" if none is missing.

    >>> missing_ranks(4, [0, 2])
    'ranks 1, 3 of 4 are missing'
    """
    lacking = sorted(set(range(world_size or 0)) - set(ranks))
    if not lacking:
        return ""
    shown = ", ".join(map(str, lacking[:8])) + (" and more" if len(lacking) > 8 else "")
    return (
        f"rank{'s' if len(lacking) > 1 else ''} {shown} of {world_size} {'are' if len(lacking) > 1 else 'is'} missing"
    )


REPAIRS: dict[str, Callable[["LinkedTrace"], "LinkedTrace"]] = {
    "cap-durations": cap_durations,
    "exclude-warm-up": exclude_warm_up,
}


def repaired(trace: "LinkedTrace", repairs: Repairs) -> "LinkedTrace":
    """Return the trace after applying the named repairs.

    Raises:
        KprofError: if a repair is unknown.
    """
    for name in repairs:
        if name not in REPAIRS:
            raise KprofError(f"unknown repair {name!r}", hint=f"known repairs: {', '.join(REPAIRS)}")
    for name in (name for name in REPAIRS if name in repairs):
        trace = REPAIRS[name](trace)
    return trace
