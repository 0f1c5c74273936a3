"""Format knobs and sizes as text, in the syntax of command line options."""

from collections.abc import Mapping
from typing import Any


def assigned(values: Mapping[str, Any], separator: str = " ") -> str:
    """Return a mapping as ``BLOCK_M=64 num_warps=4``, in its order."""
    return separator.join(f"{name}={value}" for name, value in values.items())
