"""Two traces kernel by kernel: before and after a change, or one batch size against another."""

import msgspec

from kprof_analyzers.profiles.timeline.top import KernelTime


class KernelChange(msgspec.Struct, frozen=True):
    """One kernel in both traces; ``None`` where it does not occur. Times in ns."""

    name: str
    category: str
    before_ns: int | None
    after_ns: int | None
    before_count: int
    after_count: int

    @property
    def delta_ns(self) -> int:
        """After less before."""
        return (self.after_ns or 0) - (self.before_ns or 0)

    @property
    def mean_ratio(self) -> float | None:
        """Average duration after over before; ``None`` when it is only in one of them."""
        if not self.before_count or not self.after_count or not self.before_ns or self.after_ns is None:
            return None
        return (self.after_ns / self.after_count) / (self.before_ns / self.before_count)


class Comparison(msgspec.Struct, frozen=True):
    """Kernels sorted by how much their summed time changed, and the sums by category: before and after, in ns."""

    before: str
    after: str
    kernels: list[KernelChange]
    categories: dict[str, tuple[int, int]]
    before_ns: int
    after_ns: int


def compare(before: list[KernelTime], after: list[KernelTime], names: tuple[str, str]) -> Comparison:
    """Join two lists of kernels by name and category."""
    left = {(k.name, k.category): k for k in before}
    right = {(k.name, k.category): k for k in after}
    changes: list[KernelChange] = []
    categories: dict[str, tuple[int, int]] = {}
    for key in {**left, **right}:
        old, new = left.get(key), right.get(key)
        change = KernelChange(
            *key,
            old.total_ns if old else None,
            new.total_ns if new else None,
            old.count if old else 0,
            new.count if new else 0,
        )
        changes.append(change)
        was, now = categories.get(key[1], (0, 0))
        categories[key[1]] = (was + (change.before_ns or 0), now + (change.after_ns or 0))
    return Comparison(
        *names,
        sorted(changes, key=lambda c: (-abs(c.delta_ns), c.name)),
        dict(sorted(categories.items(), key=lambda item: -max(item[1]))),
        sum(k.total_ns for k in before),
        sum(k.total_ns for k in after),
    )
