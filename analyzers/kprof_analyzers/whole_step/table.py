"""The calls of a step as the table that people know from torch's profiler, and what would pay most."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from kprof_analyzers.whole_step.document import ProfileChange, ProfiledRow
from kprof_analyzers.whole_step.fusing import fusable
from kprof_analyzers.whole_step.timing import StepCall

GROUPS = ("name", "shapes", "module", "phase", "range")
"""What rows can be made by."""

MOST_CHANGES = 5

Key = tuple[str, ...]

_KEYS: dict[str, Callable[[StepCall], Key]] = {
    "name": lambda call: (_maker(call), call.timed.name),
    "shapes": lambda call: (_maker(call), call.timed.name, call.timed.shapes),
    "module": lambda call: (call.scope.module if call.scope else "",),
    "phase": lambda call: (call.scope.phase if call.scope else "",),
    "range": lambda call: (call.scope.range if call.scope else "",),
}


def _maker(call: StepCall) -> str:
    """Kernels of Triton may be called as operators are."""
    return "triton" if call.timed.kind == "triton" else ""


def rows_of(calls: Iterable[StepCall], by: str) -> list[ProfiledRow]:
    """One row for each group, the longest first, then groups without a time by their calls.

    Calls without a time are in rows of their own: a sum never takes them for nothing.

    Args:
        calls: of the step.
        by: one of :data:`GROUPS`.
    """
    groups: dict[tuple[Key, str], list[StepCall]] = {}
    for call in calls:
        groups.setdefault((_KEYS[by](call), call.timed.why), []).append(call)
    rows = [_row(some, by) for some in groups.values()]
    whole = sum(row.us for row in rows if row.us is not None)
    rows.sort(key=lambda row: (row.us is None, -(row.us or 0.0), -row.calls, row.name, row.shapes, row.module))
    return [_shared(row, whole) for row in rows]


def _shared(row: ProfiledRow, whole: float) -> ProfiledRow:
    from msgspec.structs import replace

    return replace(row, share=row.us / whole if whole and row.us is not None else None)


def _row(calls: Sequence[StepCall], by: str) -> ProfiledRow:
    first = calls[0].timed
    known = first.us is not None
    bounds: Counter[str] = Counter()
    findings: Counter[str] = Counter()
    for call in calls:
        bounds[call.timed.bound] += int(1000 * (call.timed.us or 0.0))
        if call.timed.finding is not None:
            findings[call.timed.finding[0]] += int(1000 * call.timed.finding[1])
    phases = dict.fromkeys(call.scope.phase for call in calls if call.scope is not None)
    modules = dict.fromkeys(call.scope.module for call in calls if call.scope is not None)
    ranges = dict.fromkeys(call.scope.range for call in calls if call.scope is not None)
    kinds = dict.fromkeys(call.timed.kind for call in calls)
    return ProfiledRow(
        name=first.name if by in {"name", "shapes"} else "",
        shapes=first.shapes if by == "shapes" else "",
        kind=first.kind if len(kinds) == 1 else "",
        phase=", ".join(phases),
        module=next(iter(modules)) if len(modules) == 1 else "",
        range=next(iter(ranges)) if len(ranges) == 1 else "",
        calls=len(calls),
        us=sum(call.timed.us or 0.0 for call in calls) if known else None,
        low_us=sum(call.timed.low_us or 0.0 for call in calls) if known else None,
        high_us=sum(call.timed.high_us or 0.0 for call in calls) if known else None,
        bound=bounds.most_common(1)[0][0] if known else "",
        finding=findings.most_common(1)[0][0] if findings else "",
        why=first.why,
    )


def changes_of(calls: Sequence[StepCall]) -> list[ProfileChange]:
    """What would save most of the step by the model: findings of Triton kernels, operators that could be fused."""
    whole = sum(call.timed.us or 0.0 for call in calls)
    if not whole:
        return []
    found: dict[tuple[str, str], tuple[float, int, bool]] = {}
    for call in calls:
        if call.timed.finding is not None:
            text, us, at_most = call.timed.finding
            before, count, never = found.get((call.timed.name, text), (0.0, 0, False))
            found[call.timed.name, text] = before + us, count + 1, never or at_most
    changes = [
        ProfileChange(f"{name}: {text}", us, us / whole, count, at_most)
        for (name, text), (us, count, at_most) in found.items()
    ]
    for names, us, count in fusable(calls):
        changes.append(ProfileChange(f"fuse {names}", us, us / whole, count, at_most=True))
    changes.sort(key=lambda change: (-change.us, change.what))
    return [change for change in changes if change.share >= _WORTH][:MOST_CHANGES]


_WORTH = 0.005
