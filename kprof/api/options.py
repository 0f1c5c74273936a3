"""What the functions of the API take in common."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

Names = str | Sequence[str]
"""One name, several with commas between them, or a sequence: ``"gfx942"``, ``"gfx942,gfx950"``, ``["MI300X"]``."""

Values = Mapping[str, Any]

Path_ = str | os.PathLike[str]


def names(given: Names) -> tuple[str, ...]:
    """The single names, without empty ones and repetitions, in order."""
    from kprof.inputs.assignments import listed

    return tuple(listed(given if isinstance(given, str) else ",".join(given)))
