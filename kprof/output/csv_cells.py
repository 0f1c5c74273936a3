"""Cells of CSV files that a spreadsheet shows and does not run."""

from collections.abc import Iterable
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def guarded(value: Any) -> Any:
    """A value as a cell: a text that a spreadsheet would take for a formula gets an apostrophe in front.

    Numbers stay numbers, also those that are texts.

    >>> guarded("=cmd|' /C calc'!A0"), guarded("-1.5"), guarded(-2)
    ("'=cmd|' /C calc'!A0", '-1.5', -2)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) and not _number(value) else value


def guarded_row(values: Iterable[Any]) -> list[Any]:
    """Each of them guarded."""
    return [guarded(value) for value in values]


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
