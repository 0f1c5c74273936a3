"""Arrange the calls of a step in a table like that of torch's profiler."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kprof.errors import KprofError
from kprof_analyzers.whole_step.document import ProfiledRow
from kprof_analyzers.whole_step.timing import StepCall, TimedCall

GROUPS = ("name", "shapes", "module", "phase", "range", "place")
"""Valid keys for grouping rows."""

Key = tuple[str, ...]

_KEYS: dict[str, Callable[[StepCall], Key]] = {
    "name": lambda call: (_maker_key(call), call.timed.name),
    "shapes": lambda call: (_maker_key(call), call.timed.name, call.timed.shapes),
    "module": lambda call: (call.scope.module if call.scope else "",),
    "phase": lambda call: (call.scope.phase if call.scope else "",),
    "range": lambda call: (call.scope.range if call.scope else "",),
    "place": lambda call: (_source_line(call),),
}


def groups_of(by: str) -> list[str]:
    """Parse the keys for grouping rows, separated by commas.

    Raises:
        KprofError: if a key is unknown, or there is none.
    """
    found = list(dict.fromkeys(filter(None, map(str.strip, by.split(",")))))
    if not found or not set(found) <= set(GROUPS):
        hint = f"They are {', '.join(GROUPS)}, or several: module,name."
        raise KprofError(f"cannot group rows by {by!r}", hint=hint)
    return found


def _source_line(call: StepCall) -> str:
    """Return the program's file and line that made a call; "" if unknown."""
    place = call.scope.place if call.scope else None
    return "" if place is None else f"{place.file}:{place.line}"


def _maker_key(call: StepCall) -> str:
    """Return a key that separates Triton kernels from operators of the same name."""
    return "triton" if call.timed.kind == "triton" else ""


def rows_of(calls: Iterable[StepCall], by: str) -> list[ProfiledRow]:
    """Return one row per group, longest first, followed by groups without a time by their number of calls.

    Calls without a time are in separate rows, because a sum must not count them as zero.

    Args:
        calls: calls of the step.
        by: one of :data:`GROUPS`, or several separated by commas.

    Raises:
        KprofError: if a key is unknown.
    """
    wanted = groups_of(by)
    groups: dict[tuple[Key, str], list[StepCall]] = {}
    for call in calls:
        key = tuple(word for one in wanted for word in _KEYS[one](call))
        groups.setdefault((key, call.timed.why), []).append(call)
    rows = [_row(some, wanted) for some in groups.values()]
    return _by_time(rows)


@dataclass(frozen=True)
class Sums:
    """Total time of all calls, and the calls without a time; fields as in :class:`ProfileDocument`."""

    us: float
    low_us: float
    high_us: float
    triton_us: float
    unknown_calls: int
    unknown: list[str]
    unknown_kernel_calls: int
    unknown_kernels: list[str]


_NAMED = 8


def sum_of(timed: Iterable[TimedCall]) -> tuple[float, float, float]:
    """Return the summed microseconds of calls with a time, and the likely range of the sum.

    The predicted times of calls that are limited by the same resource are wrong by a common factor, so the distances to
    the ends of their ranges add up. Errors of different groups are independent, so the squares of their distances add
    up.
    """
    groups: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for one in timed:
        us = one.us or 0.0
        group = groups[one.limited_by]
        group[0] += us
        group[1] += us - (one.low_us or 0.0)
        group[2] += (one.high_us or 0.0) - us
    us = sum(group[0] for group in groups.values())
    below, above = (math.hypot(*(group[side] for group in groups.values())) for side in (1, 2))
    return us, us - below, us + above


def sums_of(calls: Sequence[StepCall]) -> Sums:
    """Return the total times and counts over all calls of a step, and the names of calls without a time."""
    timed = [call.timed for call in calls if call.timed.us is not None]
    untimed = [call.timed for call in calls if call.timed.us is None]
    unknown = Counter((one.name, one.why) for one in untimed)
    kernels = Counter((one.name, one.why) for one in untimed if one.kind == "triton")
    us, low_us, high_us = sum_of(timed)
    return Sums(
        us=us,
        low_us=low_us,
        high_us=high_us,
        triton_us=sum(one.us or 0.0 for one in timed if one.kind == "triton"),
        unknown_calls=unknown.total(),
        unknown=_named(unknown),
        unknown_kernel_calls=kernels.total(),
        unknown_kernels=_named(kernels),
    )


def _named(unknown: Counter[tuple[str, str]]) -> list[str]:
    return [f"{name} ({count:,}: {why})" for (name, why), count in unknown.most_common(_NAMED)]


def _by_time(rows: list[ProfiledRow]) -> list[ProfiledRow]:
    """Sort the rows by decreasing time, and set each row's share of the sum."""
    whole = sum(row.us for row in rows if row.us is not None)
    rows = sorted(
        rows,
        key=lambda row: (row.us is None, -(row.us or 0.0), -row.calls, row.name, row.shapes, row.module),
    )
    return [_shared(row, whole) for row in rows]


def _shared(row: ProfiledRow, whole: float) -> ProfiledRow:
    from msgspec.structs import replace

    return replace(row, share=row.us / whole if whole and row.us is not None else None)


def _row(calls: Sequence[StepCall], by: Sequence[str]) -> ProfiledRow:
    first = calls[0].timed
    known = first.us is not None
    us, low_us, high_us = sum_of(call.timed for call in calls)
    bounds: Counter[str] = Counter()
    findings: Counter[str] = Counter()
    for call in calls:
        bounds[call.timed.bound] += int(1000 * (call.timed.us or 0.0))
        if call.timed.finding is not None:
            findings[call.timed.finding[0]] += int(1000 * call.timed.finding[1])
    phases = dict.fromkeys(call.scope.phase for call in calls if call.scope is not None)
    modules = dict.fromkeys(call.scope.module for call in calls if call.scope is not None)
    ranges = dict.fromkeys(call.scope.range for call in calls if call.scope is not None)
    lines: Counter[str] = Counter()
    for call in calls:
        lines[_source_line(call)] += int(1000 * (call.timed.us or 0.0))
    lines.pop("", None)
    kinds = dict.fromkeys(call.timed.kind for call in calls)
    limits = [call.timed.limit_us for call in calls if call.timed.limit_us is not None]
    return ProfiledRow(
        name=first.name if not {"name", "shapes"}.isdisjoint(by) else "",
        shapes=first.shapes if "shapes" in by else "",
        kind=first.kind if len(kinds) == 1 else "",
        phase=", ".join(phases),
        module=next(iter(modules)) if len(modules) == 1 else "",
        range=next(iter(ranges)) if len(ranges) == 1 else "",
        place=lines.most_common(1)[0][0] if lines else "",
        places=len(lines),
        calls=len(calls),
        us=us if known else None,
        low_us=low_us if known else None,
        high_us=high_us if known else None,
        limit_us=sum(limits) if len(limits) == len(calls) else None,
        bound=bounds.most_common(1)[0][0] if known else "",
        finding=findings.most_common(1)[0][0] if findings else "",
        why=first.why,
    )
