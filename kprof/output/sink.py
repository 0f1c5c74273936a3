"""The one way to a terminal: what came from a file is text there, and nothing else.

Names of kernels, paths and messages of other programs may hold characters that command a terminal, reverse the order
of what is read, cannot be seen, or begin a line that a CI service takes for a command. :func:`clean_streams` puts a
:class:`CleanStream` in the place of standard output and standard error, so that ``print`` cannot forget it. Colours of
our own go through :class:`StyledStream`, whose users clean what they colour; annotations through
:func:`command_stream`.
"""

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

# Cc but tab and newline, Cf, Zl, Zp, Cs, noncharacters, and what Unicode calls default ignorable.
_UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# The same for ASCII: most text is, and the other pattern takes two milliseconds to compile.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
# "::error::" (GitHub), "##[error]" and "##vso[...]" (Azure), "##teamcity[...]".
_COMMAND = re.compile(r"^((?:\s|\x1b\[[0-9;]*m)*):(?=:)|(?<=#)#(?=\w*\[)", re.MULTILINE)
# What kprof itself prints beyond ASCII.
_PLAIN = str.maketrans(
    {
        "→": "->",
        "←": "<-",
        "…": "...",
        "·": "-",
        "\u00d7": "x",
        "◄": "<",
        "≤": "<=",
        "≥": ">=",
        "±": "+-",
        "µ": "u",
        "μ": "u",
        "\u2013": "-",
        "█": "#",
        "▉": "#",
        "▓": "#",
        "▒": "=",
        "░": ".",
        "▏": "|",
        "●": "*",
        "○": "o",
        "■": "#",
        "✓": "ok",
        "✗": "x",
        # Box drawing: corners and crossings, then the horizontal and the vertical lines.
        **dict.fromkeys(map(chr, range(0x2500, 0x2580)), "+"),
        **dict.fromkeys("─━═╌╍┄┅┈┉╴╶╸╺╼╾", "-"),
        **dict.fromkeys("│┃║╎╏┆┇┊┋╵╷╹╻╽╿", "|"),
        **dict.fromkeys("▁▂▃▄▅▆▇", "#"),
        **dict.fromkeys("▊▋▌▍▎", "="),
    }
)


def clean(text: str) -> str:
    r"""Text with an escape for every character that commands a terminal or cannot be seen: ``\x1b``, ``\u202e``.

    Newlines and tabs stay; :func:`one_line` takes those too. A byte of a file name that is not UTF-8 is ``\xff``.
    """
    return _CONTROL.sub(_escape, text) if text.isascii() else re.sub(_UNSAFE, _escape, text)


def one_line(text: str) -> str:
    """A name as it may stand in a line: :func:`clean`, with newlines and tabs as escapes as well."""
    return clean(text).replace("\n", "\\n").replace("\t", "\\t")


def document(text: str) -> str:
    """A document for standard output: as :func:`clean`, with the escapes of JSON, so that JSON says the same."""
    return _CONTROL.sub(_json_escape, text) if text.isascii() else re.sub(_UNSAFE, _json_escape, text)


def no_commands(text: str) -> str:
    r"""Text of which no line is a command to a CI service: ``\::error::`` for ``::error::``."""
    return _COMMAND.sub(lambda found: f"{found[1] or ''}\\{found[0][-1]}", text) if _COMMAND.search(text) else text


def encodable(text: str, encoding: str | None) -> str:
    """Text that an encoding can write: arrows and boxes in ASCII, the rest as escapes, where it lacks them.

    A stream without an encoding, such as one in memory, takes everything.
    """
    if encoding is None or text.isascii() or encoding.lower().replace("-", "") in {"utf8", "utf8sig"}:
        return text
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_encodable(character, encoding) for character in text)
    except LookupError:
        return encodable(text, "ascii")
    return text


def _encodable(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return character.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return character


before_output: list[Callable[[], None]] = []
"""Calls to make, once each, before anything is written next: a line that shows progress is taken away then."""


def output_begins() -> None:
    """Make the calls of :data:`before_output`; also before a program of the user's gets the terminal."""
    while before_output:
        before_output.pop()()


class _Stream:
    """A text stream in front of another: what is written is made fit for it, every other call is passed on.

    Args:
        stream: the one behind. Where it is one of these itself, the stream behind that is taken.
    """

    is_output = True
    """Whether the texts are output, in contrast to a line that is drawn and taken away."""

    def __init__(self, stream: Any) -> None:
        self.behind: Any = stream.behind if isinstance(stream, _Stream) else stream

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            # Bytes are written past this stream.
            output_begins()
        return getattr(self.behind, name)

    def write(self, text: str) -> int:
        """Write a text, made fit."""
        if self.is_output:
            output_begins()
        self.behind.write(encodable(self._fit(text), getattr(self.behind, "encoding", None)))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """As :meth:`write`, one by one."""
        for line in lines:
            self.write(line)

    def _fit(self, text: str) -> str:
        return text


class CleanStream(_Stream):
    """Takes any text: what commands a terminal is made visible, and no line is a command to a CI service."""

    def _fit(self, text: str) -> str:
        return no_commands(clean(text))


class StyledStream(_Stream):
    """Takes text with escape sequences of our own; names in it were cleaned before they were coloured."""

    def _fit(self, text: str) -> str:
        return no_commands(text)


class DrawingStream(StyledStream):
    """Takes a line that is drawn again and again."""

    is_output = False


class _CommandStream(_Stream):
    def _fit(self, text: str) -> str:
        return clean(text)


def command_stream(stream: Any) -> Any:
    """Where lines go that are meant to be commands to a CI service; the format escapes what it puts into them."""
    return _CommandStream(stream)


@contextlib.contextmanager
def clean_streams() -> Iterator[None]:
    """Standard output and standard error through :class:`CleanStream`, for a program's whole run."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = CleanStream(sys.stdout), CleanStream(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
