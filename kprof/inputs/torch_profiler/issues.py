"""What a reader met on its way and did not keep to itself."""

import msgspec


class TraceIssue(msgspec.Struct, frozen=True):
    """One kind of trouble in one file.

    Attributes:
        kind: stable identifier such as ``cut-off`` or ``bad-utf8``.
        message: one sentence for the user.
        path: the file.
        place: where it was met first: ``byte 4096`` of the uncompressed text, or an event's name.
        count: how many times.
        lost: events that are therefore missing from every table and sum.
        unknown: numbers that cannot be known because of it, such as ``busy``.
        cure: the setting, version or option that makes them known.
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
        """``path, byte 12: message (3 times)``."""
        where = ", ".join(part for part in (self.path, self.place) if part)
        times = f" ({self.count:,} times)" if self.count > 1 else ""
        return f"{where}: {self.message}{times}" if where else f"{self.message}{times}"


class IssueLog:
    """Issues of one file, the same kind counted together so that memory stays bounded."""

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
        """Note trouble; the first message and place of a kind are kept, the rest is counted."""
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
        """Take over issues that another log has collected for the same file."""
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
        """In the order in which the kinds were first met."""
        return tuple(self._by_kind.values())
