"""Knobs and sizes as people read them, and as options of the command line take them."""

from collections.abc import Mapping
from typing import Any


def assigned(values: Mapping[str, Any], separator: str = " ") -> str:
    """``BLOCK_M=64 num_warps=4``: each name with its value, in the mapping's order."""
    return separator.join(f"{name}={value}" for name, value in values.items())
