"""Output streams that escape control characters in text from files.

Names of kernels, paths and messages of other programs may contain characters that control a terminal, reverse the
reading order or are invisible, or lines that a CI service interprets as commands. :func:`clean_streams` replaces
standard output and standard error by a :class:`CleanStream`, so that every ``print`` is safe. kprof's own colours go
through :class:`StyledStream`, whose callers clean the coloured text; annotations go through :func:`command_stream`.
"""

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

# Unicode categories Cc (except tab and newline), Cf, Zl, Zp, Cs, noncharacters, and default ignorable characters.
_UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# Faster pattern for ASCII text, which is the usual case; compiling the full pattern takes 2 ms.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
# Matches commands to CI services: "::error::" (GitHub), "##[error]" and "##vso[...]" (Azure), "##teamcity[...]".
_COMMAND = re.compile(r"^((?:\s|\x1b\[[0-9;]*m)*):(?=:)|(?<=#)#(?=\w*\[)", re.MULTILINE)
# ASCII replacements of the non-ASCII characters that kprof prints.
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
        # Box drawing characters: the first row maps all of them to +, which corners and crossings keep; the next rows
        # override it for lines.
        **dict.fromkeys(map(chr, range(0x2500, 0x2580)), "+"),
        **dict.fromkeys("─━═╌╍┄┅┈┉╴╶╸╺╼╾", "-"),
        **dict.fromkeys("│┃║╎╏┆┇┊┋╵╷╹╻╽╿", "|"),
        **dict.fromkeys("▁▂▃▄▅▆▇", "#"),
        **dict.fromkeys("▊▋▌▍▎", "="),
    }
)


def clean(text: str) -> str:
    r"""Escape every character that controls a terminal or is invisible, as ``\x1b`` or ``\u202e``.

    Newlines and tabs are kept; :func:`one_line` escapes them too. A byte of a file name that is not UTF-8 becomes
    ``\xff``.
    """
    return _CONTROL.sub(_escape, text) if text.isascii() else re.sub(_UNSAFE, _escape, text)


def one_line(text: str) -> str:
    """Escape a text that must stay on one line: like :func:`clean`, but newlines and tabs are escaped too."""
    return clean(text).replace("\n", "\\n").replace("\t", "\\t")


def document(text: str) -> str:
    """Escape a document for standard output: like :func:`clean`, but with JSON's escapes, so JSON keeps its meaning."""
    return _CONTROL.sub(_json_escape, text) if text.isascii() else re.sub(_UNSAFE, _json_escape, text)


def no_commands(text: str) -> str:
    r"""Escape lines that are commands to a CI service: ``::error::`` becomes ``\::error::``."""
    return _COMMAND.sub(lambda found: f"{found[1] or ''}\\{found[0][-1]}", text) if _COMMAND.search(text) else text


def encodable(text: str, encoding: str | None) -> str:
    """Replace characters that an encoding lacks: arrows and boxes by ASCII characters, others by escapes.

    If ``encoding`` is None, as for a stream in memory, return the text unchanged.
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
"""Functions to call once before the next output, for example to clear a progress line."""


def output_begins() -> None:
    """Call the functions in :data:`before_output`; must also be called before a user's program uses the terminal."""
    while before_output:
        before_output.pop()()


class _Stream:
    """A text stream that wraps another: written text is escaped, and every other call is passed on.

    Args:
        stream: the stream to wrap; if it is a wrapper itself, the stream behind it is wrapped.
    """

    is_output = True
    """Whether the text is output, rather than a temporary progress line."""

    def __init__(self, stream: Any) -> None:
        self.behind: Any = stream.behind if isinstance(stream, _Stream) else stream

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            # The caller writes bytes directly to the wrapped stream, so the output begins now.
            output_begins()
        return getattr(self.behind, name)

    def write(self, text: str) -> int:
        """Write a text after escaping it."""
        if self.is_output:
            output_begins()
        self.behind.write(encodable(self._escape_text(text), getattr(self.behind, "encoding", None)))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write lines with :meth:`write`."""
        for line in lines:
            self.write(line)

    def _escape_text(self, text: str) -> str:
        return text


class CleanStream(_Stream):
    """A stream for any text: escapes terminal control characters and commands to CI services."""

    def _escape_text(self, text: str) -> str:
        return no_commands(clean(text))


class StyledStream(_Stream):
    """A stream for text with kprof's own escape sequences; callers must clean names before they add colours."""

    def _escape_text(self, text: str) -> str:
        return no_commands(text)


class DrawingStream(StyledStream):
    """A stream for a line that is redrawn repeatedly."""

    is_output = False


class _CommandStream(_Stream):
    def _escape_text(self, text: str) -> str:
        return clean(text)


def command_stream(stream: Any) -> Any:
    """Return a stream for lines that are commands to a CI service; the caller escapes values in them."""
    return _CommandStream(stream)


@contextlib.contextmanager
def clean_streams() -> Iterator[None]:
    """Replace standard output and standard error by :class:`CleanStream` inside this context."""
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
