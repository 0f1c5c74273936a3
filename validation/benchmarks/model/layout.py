"""Tables as text: aligned for a terminal, and in Markdown."""

from collections.abc import Sequence


def aligned(header: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """Return lines with the first column left-aligned and the others right-aligned."""
    widths = [max(len(row[i]) for row in [header, *lines]) for i in range(len(header))]
    return [
        "  ".join(
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in [header, *lines]
    ]


def cell(value: float | None, form: str = "{:.3f}") -> str:
    """Return a figure, or a dash for a missing value."""
    return "-" if value is None else form.format(value)


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table with right-aligned numbers."""
    rule = "|" + "|".join(["---"] + ["---:"] * (len(header) - 1)) + "|"
    return [f"| {' | '.join(header)} |", rule, *(f"| {' | '.join(line)} |" for line in lines)]
