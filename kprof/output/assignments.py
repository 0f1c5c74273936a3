"""Format knobs and sizes as text, in the syntax of command line options."""

from collections.abc import Mapping
from typing import Any


def assigned(values: Mapping[str, Any], separator: str = " ") -> str:
    """Return a mapping's items as text, in the mapping's order: ``BLOCK_M=64 num_warps=4``."""
    return separator.join(f"{name}={value}" for name, value in values.items())
