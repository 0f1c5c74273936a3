"""Common argument types of the API functions."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

Names = str | Sequence[str]
"""One name, a comma-separated list, or a sequence: ``"gfx942"``, ``"gfx942,gfx950"``, ``["MI300X"]``."""

Values = Mapping[str, Any]

Path_ = str | os.PathLike[str]


def names(given: Names) -> tuple[str, ...]:
    """Return the names in order, without empty and repeated names."""
    from kprof.inputs.assignments import listed

    return tuple(listed(given if isinstance(given, str) else ",".join(given)))
