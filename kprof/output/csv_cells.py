"""Escape CSV cells that a spreadsheet would execute as formulas."""

from collections.abc import Iterable
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def guarded(value: Any) -> Any:
    """Return a value as a CSV cell; text that looks like a formula is prefixed with an apostrophe.

    Numbers, and texts that are numbers, stay unchanged.

    >>> guarded("=cmd|' /C calc'!A0"), guarded("-1.5"), guarded(-2)
    ("'=cmd|' /C calc'!A0", '-1.5', -2)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) and not _number(value) else value


def guarded_row(values: Iterable[Any]) -> list[Any]:
    """Return each value of a row as a CSV cell; see :func:`guarded`."""
    return [guarded(value) for value in values]


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
