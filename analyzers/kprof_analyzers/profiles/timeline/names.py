"""Sum up durations by name."""

import msgspec

from kprof_analyzers.profiles.timeline.categories import Categories

# Maximum number of distinct names, which no real program reaches. Further names share one sum, which is reported.
MAX_NAMES = 100_000
OTHER_NAMES = "(further names)"


class NameTime(msgspec.Struct, frozen=True):
    """Number and durations in ns of all events with one name. Operators include the time of nested operators."""

    name: str
    category: str
    count: int
    total_ns: int
    min_ns: int
    max_ns: int


class Names:
    """Number, total, minimum and maximum of durations by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[int]] = {}
        self.overflowed = 0

    def add(self, name: str, durations: list[int]) -> int:
        """Add one or more non-negative durations in ns, and return their sum."""
        total = sum(durations)
        self._add(name, [len(durations), total, min(durations), max(durations)])
        return total

    def absorb(self, other: "Names") -> None:
        """Add the sums of another table."""
        self.overflowed += other.overflowed
        for name, numbers in other.by_name.items():
            self._add(name, numbers)

    def _add(self, name: str, numbers: list[int]) -> None:
        entry = self.by_name.get(name)
        if entry is None:
            if len(self.by_name) >= MAX_NAMES:
                self.overflowed += numbers[0]
                name = OTHER_NAMES
            entry = self.by_name.setdefault(name, [0, 0, numbers[2], numbers[3]])
        entry[0] += numbers[0]
        entry[1] += numbers[1]
        entry[2] = min(entry[2], numbers[2])
        entry[3] = max(entry[3], numbers[3])

    def table(self, category: Categories | str) -> list[NameTime]:
        """Return one row per name, largest total time first."""
        rows = [
            NameTime(name, category if isinstance(category, str) else category.of_name(name), *numbers)
            for name, numbers in self.by_name.items()
        ]
        return sorted(rows, key=lambda r: (-r.total_ns, r.name))
