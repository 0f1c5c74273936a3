"""Print verdicts: before other output on a terminal, where users start reading, and after it in a pipe or a log."""

import shutil
import sys
import textwrap

_NEXT = "; next: "
_WHERE = "for @triton.autotune(configs=[...]), or as arguments of the launch:"


def with_next(conclusion: str, step: str) -> str:
    """Return a conclusion followed by the next step, which :func:`tell_first` prints on its own line."""
    return f"{conclusion}{_NEXT}{step}"


def on_screen() -> bool:
    """Return whether standard output is a terminal."""
    return bool(sys.stdout.isatty())


def screen_width() -> int | None:
    """Return the number of columns of the terminal, or ``None`` if the output is a pipe."""
    return shutil.get_terminal_size().columns if on_screen() else None


def tell_first(verdict: str, paste: str = "") -> None:
    """Print a verdict, and code to ``paste`` below it, before the other output; print nothing in a pipe."""
    if on_screen():
        first = wrapped(verdict.replace(_NEXT, f"\n{_NEXT[2:]}"))
        print("\n".join([first, *([_WHERE, paste] if paste else []), ""]))


def tell_last(verdict: str, paste: str = "", *, alone: bool = False) -> None:
    """Print the code to ``paste`` and a verdict after the other output; print nothing on a terminal.

    If ``alone``, print only the verdict, also on a terminal.
    """
    if paste and not (alone or on_screen()):
        print(f"\n{_WHERE}\n{paste}")
    if alone or not on_screen():
        print(verdict)


def wrapped(text: str, further: str = "  ") -> str:
    """Wrap each line of a text to the terminal's width; do not wrap if the output is not a terminal.

    Args:
        text: one or more lines.
        further: indentation of continuation lines.
    """
    width = screen_width()
    return "\n".join(part for line in text.splitlines() for part in folded(line, width, further))


def folded(text: str, width: int | None, further: str = "  ") -> list[str]:
    """Wrap a line at word boundaries to at most ``width`` columns; return it unchanged if ``width`` is None."""
    if width is None or len(text) <= width:
        return [text]
    start = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(
        text.lstrip(),
        width,
        initial_indent=start,
        subsequent_indent=start + further,
        break_long_words=False,
        break_on_hyphens=False,
    )
