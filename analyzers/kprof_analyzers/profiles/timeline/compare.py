"""Compare two traces by kernel, for example before and after a change, or with different batch sizes."""

import msgspec

from kprof_analyzers.profiles.timeline.top import KernelTime


class KernelChange(msgspec.Struct, frozen=True):
    """One kernel in both traces. Times are in ns, and counts per step may be fractions.

    The values of a trace in which the kernel does not occur are ``None``.
    """

    name: str
    category: str
    before_ns: int | None
    after_ns: int | None
    before_count: float
    after_count: float

    @property
    def delta_ns(self) -> int:
        """Time after minus time before."""
        return (self.after_ns or 0) - (self.before_ns or 0)

    @property
    def mean_ratio(self) -> float | None:
        """Mean duration after divided by that before; ``None`` if the kernel is in one trace only."""
        if not self.before_count or not self.after_count or not self.before_ns or self.after_ns is None:
            return None
        return (self.after_ns / self.after_count) / (self.before_ns / self.before_count)


class TraceComparison(msgspec.Struct, frozen=True):
    """Kernels sorted by the change of their total time, and total times by category before and after, in ns.

    Attributes:
        steps: number of steps of each trace; if both have steps, all times and counts are per step.
        cannot_tell: reason why the change cannot be attributed to the program; "" if it can.
    """

    before: str
    after: str
    kernels: list[KernelChange]
    categories: dict[str, tuple[int, int]]
    before_ns: int
    after_ns: int
    steps: tuple[int, int] = (0, 0)
    cannot_tell: str = ""


class TraceSide(msgspec.Struct, frozen=True):
    """One of the two compared traces: kernels, number of steps, and the reason if its recording is incomplete."""

    name: str
    kernels: list[KernelTime]
    steps: int = 0
    incomplete: str = ""


def compare(before: TraceSide, after: TraceSide) -> TraceComparison:
    """Join the kernels of two traces by name and category; times are per step if both traces have steps."""
    by_step = bool(before.steps and after.steps)
    left = {(k.name, k.category): _of_a_step(k, before.steps if by_step else 1) for k in before.kernels}
    right = {(k.name, k.category): _of_a_step(k, after.steps if by_step else 1) for k in after.kernels}
    changes: list[KernelChange] = []
    categories: dict[str, tuple[int, int]] = {}
    for key in {**left, **right}:
        old, new = left.get(key), right.get(key)
        change = KernelChange(
            *key,
            old.total_ns if old else None,
            new.total_ns if new else None,
            old.calls if old else 0,
            new.calls if new else 0,
        )
        changes.append(change)
        was, now = categories.get(key[1], (0, 0))
        categories[key[1]] = (was + (change.before_ns or 0), now + (change.after_ns or 0))
    return TraceComparison(
        before.name,
        after.name,
        sorted(changes, key=lambda c: (-abs(c.delta_ns), c.name)),
        dict(sorted(categories.items(), key=lambda item: -max(item[1]))),
        sum(k.total_ns for k in left.values()),
        sum(k.total_ns for k in right.values()),
        (before.steps, after.steps),
        _why_not(before, after),
    )


class _OfAStep(msgspec.Struct, frozen=True):
    total_ns: int
    calls: float


def _of_a_step(kernel: KernelTime, steps: int) -> _OfAStep:
    calls = kernel.count / steps
    return _OfAStep(round(kernel.total_ns / steps), int(calls) if calls == int(calls) else calls)


def _why_not(before: TraceSide, after: TraceSide) -> str:
    for side in (before, after):
        if side.incomplete:
            return f"{side.name}: {side.incomplete}"
        if not side.kernels:
            return f"{side.name} has no kernels"
    if bool(before.steps) != bool(after.steps):
        with_steps, without = (before, after) if before.steps else (after, before)
        return f"{with_steps.name} has {with_steps.steps} steps and {without.name} marks none"
    return ""
