"""Values from text: ``NAME=VALUE`` and lists with commas, as options and files write them."""

import math
from collections.abc import Iterable
from typing import Any

from kprof.errors import KprofError


def value_of(text: str) -> Any:
    """A knob's value from text: int (``0x`` too), finite float, true/false/none, else the text itself."""
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
        # "nan" and "inf" are no numbers that a knob could have; NaN would not even equal itself.
        return text.strip() if isinstance(value, float) and not math.isfinite(value) else value
    return text.strip()


def assignments(items: Iterable[str], option: str) -> dict[str, Any]:
    """``["A=1,B=x", "C=2"]`` as a dict.

    Raises:
        KprofError: an item has no ``=`` or no name, or a name is given twice with different values.
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
    """The parts of a comma-separated option, without empty ones and repetitions, in order."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
