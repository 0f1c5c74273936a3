"""Tables as text: aligned for a terminal, and in Markdown."""

from collections.abc import Sequence


def aligned(header: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [header, *lines]) for i in range(len(header))]
    return [
        "  ".join(
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in [header, *lines]
    ]


def cell(value: float | None, form: str = "{:.3f}") -> str:
    """A figure, or a dash for what is not there."""
    return "-" if value is None else form.format(value)


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table, numbers to the right."""
    rule = "|" + "|".join(["---"] + ["---:"] * (len(header) - 1)) + "|"
    return [f"| {' | '.join(header)} |", rule, *(f"| {' | '.join(line)} |" for line in lines)]
