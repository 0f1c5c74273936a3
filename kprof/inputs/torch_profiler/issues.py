"""Collect the problems that a reader reports."""

import msgspec


class TraceIssue(msgspec.Struct, frozen=True):
    """One kind of problem in one file.

    Attributes:
        kind: stable identifier such as ``cut-off`` or ``bad-utf8``.
        message: one sentence for the user.
        path: path of the file.
        place: first place at which it occurred: ``byte 4096`` of the uncompressed text, or an event's name.
        count: number of occurrences.
        lost: number of events that are missing from all tables and sums because of the problem.
        unknown: results that are unknown because of the problem, such as ``busy``.
        cure: setting, version or option that makes these results known.
    """

    kind: str
    message: str
    path: str | None = None
    place: str | None = None
    count: int = 1
    lost: int = 0
    unknown: tuple[str, ...] = ()
    cure: str = ""

    def __str__(self) -> str:
        """Return text such as ``path, byte 12: message (3 times)``."""
        where = ", ".join(part for part in (self.path, self.place) if part)
        times = f" ({self.count:,} times)" if self.count > 1 else ""
        return f"{where}: {self.message}{times}" if where else f"{self.message}{times}"


class IssueLog:
    """Issues of one file. Issues of the same kind are counted together, so that memory stays bounded."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._by_kind: dict[str, TraceIssue] = {}

    def add(
        self,
        kind: str,
        message: str,
        *,
        place: str | None = None,
        count: int = 1,
        lost: int = 0,
        unknown: tuple[str, ...] = (),
        cure: str = "",
    ) -> None:
        """Record a problem. Only the first message and place of each kind are kept; further problems are counted."""
        if count <= 0:
            return
        seen = self._by_kind.get(kind)
        if seen is None:
            self._by_kind[kind] = TraceIssue(kind, message, self._path, place, count, lost, unknown, cure)
        else:
            self._by_kind[kind] = msgspec.structs.replace(
                seen,
                count=seen.count + count,
                lost=seen.lost + lost,
                unknown=tuple(dict.fromkeys((*seen.unknown, *unknown))),
                cure=seen.cure or cure,
            )

    def extend(self, issues: "tuple[TraceIssue, ...]") -> None:
        """Add the issues that another log has collected for the same file."""
        for issue in issues:
            self.add(
                issue.kind,
                issue.message,
                place=issue.place,
                count=issue.count,
                lost=issue.lost,
                unknown=issue.unknown,
                cure=issue.cure,
            )

    def all(self) -> tuple[TraceIssue, ...]:
        """Return the issues in the order in which their kinds first occurred."""
        return tuple(self._by_kind.values())
