"""Find the lines in which the source code of a kernel differs between two sides, if they are contiguous."""

from difflib import SequenceMatcher
from itertools import takewhile

from kprof.diffing.document import SourceChange
from kprof.findings import Location
from kprof.inputs import boundary

_MOST_BYTES = 4 << 20
_MOST_LINES = 1000


def source_change(old: Location, new: Location) -> SourceChange | None:
    """Return the range of lines that replaced another range in a kernel's source code.

    Args:
        old: location at which the old kernel is defined.
        new: location at which the new kernel is defined.

    Returns:
        The range, or ``None`` if the code is the same, differs in several places, only has added or removed lines, or
        if a source is not available.
    """
    matched = SequenceMatcher(None, _code(old.file, old.line), _code(new.file, new.line), autojunk=False)
    match [change for change in matched.get_opcodes() if change[0] != "equal"]:
        case [("replace", first, end, new_first, new_end)]:
            before, after = Location(old.file, old.line + first), Location(new.file, new.line + new_first)
            return SourceChange(before, after, end - first, new_end - new_first)
        case _:
            return None


def _code(file: str, line: int) -> tuple[str, ...]:
    """Return the lines of the function that starts at a line; empty if the file or the function is too large."""
    content = boundary.content_of(file, _MOST_BYTES)
    lines = [] if content is None else content.decode(errors="replace").splitlines()[line - 1 :]
    # ``line`` may be that of a decorator above the ``def``.
    head = next((at for at, text in enumerate(lines[:_MOST_LINES]) if text.lstrip().startswith("def ")), None)
    if head is None:
        return ()
    indent = _indent(lines[head])
    body = takewhile(
        lambda text: not text.strip() or _indent(text) > indent or text.lstrip()[0] in {")", "#"}, lines[head + 1 :]
    )
    code = "\n".join(map(str.rstrip, (*lines[: head + 1], *body))).rstrip().splitlines()
    return tuple(code) if len(code) <= _MOST_LINES else ()


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
