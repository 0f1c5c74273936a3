"""Scan a list of JSON values in bytes token by token, ignoring brackets inside strings."""

import re
import sys
from collections.abc import Iterator

# A closed string, or a structural character. A single quote mark is a string without an end.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\],]', re.DOTALL)
_OPEN = frozenset(b"{[")
_CLOSE = frozenset(b"}]")
_COMMA = ord(",")
_QUOTE = ord('"')

# End of an event and start of the next event. A quote that closes a string is never followed by a letter, so this
# pattern cannot match inside a string. It can match inside a nested list of objects.
EVENT_START = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:ph|name|cat|pid|tid|ts|dur|id|s|args|bp)"\s*:)')
OBJECT_START = re.compile(rb'\}\s*,\s*(?=\{\s*"[A-Za-z_])')


class ListScanner:
    """Iterates over the values of a list after its opening bracket, in linear time.

    Attributes:
        end: after iteration, index of the bracket that closes the list; ``None`` if the data ends before it.
        rest: after iteration, index from which the data is not part of a complete value.
        gave_up: whether iteration ended at a value of more than ``longest`` bytes.
    """

    def __init__(self, data: bytes, start: int = 0, longest: int = sys.maxsize) -> None:
        self._longest = longest
        self.gave_up = False
        self._data = data
        self._start = start
        self.end: int | None = None
        self.rest = start

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield start and end of each complete value, without blanks and commas."""
        data = self._data
        depth = 0
        begin = self._start
        for token in _TOKEN.finditer(data, begin):
            at = token.start()
            mark = data[at]
            if mark == _QUOTE:
                if token.end() - at == 1:
                    return
            elif mark in _OPEN:
                depth += 1
                if at - begin > self._longest:
                    self.gave_up = True
                    return
            elif depth == 0:
                # This is a comma between values, or the closing bracket of the list.
                yield from _trimmed(data, begin, at)
                if mark != _COMMA:
                    self.end = self.rest = at
                    return
                begin = self.rest = at + 1
            elif mark in _CLOSE:
                depth -= 1
                if depth == 0:
                    self.rest = at + 1
                    yield from _trimmed(data, begin, at + 1)
                    begin = at + 1


def _trimmed(data: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    while begin < end and data[begin] in b" \t\r\n":
        begin += 1
    while end > begin and data[end - 1] in b" \t\r\n":
        end -= 1
    if end > begin:
        yield begin, end


def last_boundary(data: bytes | bytearray, window: int = 1 << 11) -> int | None:
    """Return the index behind the last event that another event follows; ``None`` if there is no such event.

    This is a guess: the index may lie inside a nested list. Only decoding the data before it shows that.
    """
    for pattern in (EVENT_START, OBJECT_START):
        size = window
        while True:
            base = max(0, len(data) - size)
            starts = [match.start() for match in pattern.finditer(data, base)]
            if starts:
                return starts[-1] + 1
            if base == 0:
                break
            size *= 8
    return None
