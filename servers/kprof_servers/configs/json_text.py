"""A JSON parser that, unlike Python's, keeps the line and column of every value, and repeated keys.

It is stricter than Python's: ``NaN`` and ``Infinity`` are not JSON. An error has a line, a column and a description of
the mistake.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MAX_DEPTH = 64
"""Maximum nesting depth that is parsed; tuned configurations have at most five levels."""

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_WORD = re.compile(r"[A-Za-z_]\w*")
_CONSTANTS = {"true": True, "false": False, "null": None}
_MAX_DIGITS = 400


class JsonPlace(NamedTuple):
    """A 1-based line and column."""

    line: int
    column: int


class Member(NamedTuple):
    """One ``"key": value`` of an object."""

    key: str
    place: JsonPlace
    value: "JsonNode"


@dataclass(frozen=True)
class JsonNode:
    """A JSON value and its position in the text.

    Attributes:
        place: place of its first character.
        value: a number, a string, ``True``, ``False`` or ``None``; ``None`` for objects and arrays.
        members: all members of an object, in file order; otherwise ``None``.
        items: items of an array; otherwise ``None``.
    """

    place: JsonPlace
    value: Any = None
    members: tuple[Member, ...] | None = None
    items: tuple["JsonNode", ...] | None = None

    def plain(self) -> Any:
        """Return the value as Python's JSON reader does: if a key is repeated, its last value is used."""
        if self.members is not None:
            return {member.key: member.value.plain() for member in self.members}
        if self.items is not None:
            return [item.plain() for item in self.items]
        return self.value


class JsonError(Exception):
    """The text is not JSON.

    Attributes:
        place: place of the mistake.
        reason: description of the mistake.
    """

    def __init__(self, place: JsonPlace, reason: str) -> None:
        super().__init__(f"line {place.line}, column {place.column}: {reason}")
        self.place = place
        self.reason = reason


def parse(text: str) -> JsonNode:
    """Parse a complete JSON text.

    Raises:
        JsonError: the text is not valid JSON.
    """
    reader = _Reader(text.removeprefix("\ufeff"))
    node = reader.value(0)
    reader.skip()
    if reader.at < len(reader.text):
        raise reader.error("there is text after the end of the document")
    return node


def repeated(node: JsonNode, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Member, Member]]:
    """Yield each repeated key of any object: path of the object, first member with the key, and later member."""
    seen: dict[str, Member] = {}
    for member in node.members or ():
        if member.key in seen:
            yield path, seen[member.key], member
        seen.setdefault(member.key, member)
        yield from repeated(member.value, (*path, member.key))
    for index, item in enumerate(node.items or ()):
        yield from repeated(item, (*path, str(index)))


@dataclass
class _Reader:
    """Parser state: a text and a position in it."""

    text: str
    at: int = 0
    lines: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = [0, *(match.end() for match in re.finditer(r"\n", self.text))]

    def value(self, depth: int) -> JsonNode:
        """Parse the next value."""
        self.skip()
        place = self.place()
        character = self.text[self.at : self.at + 1]
        if depth > MAX_DEPTH:
            raise self.error(f"nested deeper than {MAX_DEPTH} levels")
        if character == "{":
            return JsonNode(place, members=self._members(depth))
        if character == "[":
            return JsonNode(place, items=self._items(depth))
        if character == '"':
            return JsonNode(place, self._string())
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            return JsonNode(place, self._number(number))
        return JsonNode(place, self._constant(character))

    def _members(self, depth: int) -> tuple[Member, ...]:
        found: list[Member] = []
        self.at += 1
        while not self._end("}", found):
            place = self.place()
            if self.text[self.at : self.at + 1] != '"':
                raise self.error(f"a key in double quotes is expected{self._instead()}")
            key = self._string()
            self.skip()
            if self.text[self.at : self.at + 1] != ":":
                raise self.error(f"a colon is expected after the key {_short(key)}{self._instead()}")
            self.at += 1
            found.append(Member(key, place, self.value(depth + 1)))
        return tuple(found)

    def _items(self, depth: int) -> tuple[JsonNode, ...]:
        found: list[JsonNode] = []
        self.at += 1
        while not self._end("]", found):
            found.append(self.value(depth + 1))
        return tuple(found)

    def _end(self, closing: str, found: list[Any]) -> bool:
        """Skip a closing bracket and return True, or skip the comma before the next element and return False."""
        self.skip()
        if self.text[self.at : self.at + 1] == closing:
            self.at += 1
            return True
        if not found:
            return False
        comma = self.place()
        if self.text[self.at : self.at + 1] != ",":
            raise self.error(f"a comma or {closing} is expected{self._instead()}")
        self.at += 1
        self.skip()
        if self.text[self.at : self.at + 1] == closing:
            raise JsonError(comma, f"a comma before {closing}")
        return False

    def _string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.error("the string has no end, or contains a character that JSON does not allow")
        self.at = match.end()
        text: str = json.loads(match[0])
        # Half of a surrogate pair is valid JSON, but cannot be encoded as UTF-8.
        return text.encode("utf-8", "replace").decode()

    def _number(self, match: re.Match[str]) -> int | float:
        if len(match[0]) > _MAX_DIGITS:
            raise self.error("a number with too many digits")
        place = self.place()
        self.at = match.end()
        if self.text[self.at : self.at + 1].isalnum():
            raise JsonError(place, "this is not a valid JSON number")
        number: int | float = json.loads(match[0])
        return number

    def _constant(self, character: str) -> Any:
        word = _WORD.match(self.text, self.at)
        if word is not None and word[0] in _CONSTANTS:
            self.at = word.end()
            return _CONSTANTS[word[0]]
        if character == "":
            raise self.error("the file ends too early")
        raise self.error(f"a value is expected{self._instead()}")

    def _instead(self) -> str:
        """Describe the invalid text at the position, and the probable mistake."""
        character = self.text[self.at : self.at + 1]
        if character == "":
            return ", the file ends here"
        if character == "'":
            return "; JSON has no single quotes"
        if character == "#" or self.text.startswith(("//", "/*"), self.at):
            return "; JSON has no comments"
        word = _WORD.match(self.text, self.at)
        if word is None:
            return f", not {_short(character)}"
        python = {"True": "true", "False": "false", "None": "null"}.get(word[0])
        return f", not {word[0][:40]}" + (f": JSON writes {python}" if python else "")

    def skip(self) -> None:
        """Skip white space."""
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match is not None else self.at

    def place(self) -> JsonPlace:
        """Return line and column of the position."""
        from bisect import bisect_right

        line = bisect_right(self.lines, self.at)
        return JsonPlace(line, self.at - self.lines[line - 1] + 1)

    def error(self, reason: str) -> JsonError:
        """Create an error at the position."""
        return JsonError(self.place(), reason)


def _short(text: str) -> str:
    shown = json.dumps(text[:40])
    return f'{shown[:-1]}..."' if len(text) > 40 else shown
