"""Parse values from ``NAME=VALUE`` texts and comma-separated lists, as used in options and files."""

import math
from collections.abc import Iterable
from typing import Any

from kprof.errors import KprofError


def value_of(text: str) -> Any:
    """Parse a knob's value: int (also ``0x``), finite float, true/false/none, otherwise the stripped text."""
    lowered = text.strip().lower()
    if lowered in {"true", "false"}:
        return lowered == "true"
    if lowered == "none":
        return None
    for kind in (lambda t: int(t, 0), float):
        try:
            value = kind(text)
        except ValueError:
            continue
        # A knob cannot be "nan" or "inf", so these stay text; NaN would not even equal itself.
        return text.strip() if isinstance(value, float) and not math.isfinite(value) else value
    return text.strip()


def assignments(items: Iterable[str], option: str) -> dict[str, Any]:
    """Parse items such as ``["A=1,B=x", "C=2"]`` into a dict.

    Raises:
        KprofError: if an item has no ``=`` or no name, or if a name occurs twice with different values.
    """
    result: dict[str, Any] = {}
    for item in items:
        for part in filter(None, (p.strip() for p in item.split(","))):
            name, equals, text = part.partition("=")
            if not equals or not name.strip():
                raise KprofError(f"{option} takes NAME=VALUE, got {part!r}")
            value = value_of(text)
            if name.strip() in result and result[name.strip()] != value:
                raise KprofError(f"{option} gives {name.strip()} twice, as {result[name.strip()]!r} and {value!r}")
            result[name.strip()] = value
    return result


def listed(text: str) -> list[str]:
    """Return the non-empty, distinct parts of a comma-separated option, in order."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
