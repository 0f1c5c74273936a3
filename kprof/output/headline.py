"""Verdicts: on a terminal they stand first, where reading begins; in a pipe last, where logs end."""

import shutil
import sys
import textwrap

_NEXT = "; next: "
_WHERE = "for @triton.autotune(configs=[...]), or as arguments of the launch:"


def with_next(conclusion: str, step: str) -> str:
    """Return a conclusion with the next step behind it; on a terminal the step has a line of its own."""
    return f"{conclusion}{_NEXT}{step}"


def on_screen() -> bool:
    """Whether standard output is a terminal."""
    return bool(sys.stdout.isatty())


def screen_width() -> int | None:
    """Columns of the terminal, ``None`` in a pipe."""
    return shutil.get_terminal_size().columns if on_screen() else None


def tell_first(verdict: str, paste: str = "") -> None:
    """Print a verdict before the rest, on a terminal, with the code to ``paste`` directly below it."""
    if on_screen():
        first = wrapped(verdict.replace(_NEXT, f"\n{_NEXT[2:]}"))
        print("\n".join([first, *([_WHERE, paste] if paste else []), ""]))


def tell_last(verdict: str, paste: str = "", *, alone: bool = False) -> None:
    """Print a verdict after the rest, in a pipe, below the code to ``paste``; ``alone``, only it."""
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
    """A line as lines of at most ``width`` columns, cut between words; whole without a width."""
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
