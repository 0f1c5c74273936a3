"""The best change of knobs that a search found for a kernel, as stored in a report."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class KnownAdvice:
    """Change of knobs that ``kprof advise`` ranked first. It was compiled; its time is predicted, not measured.

    Attributes:
        change: new values by knob.
        config: all knobs.
        code: the configuration as code for ``triton.autotune``, after lines that set environment switches, if any.
        start_us, best_us: predicted microseconds of a launch before and after the change.
        start_spills, best_spills: spilled VGPRs per lane before and after the change; ``None`` if not known.
    """

    change: dict[str, Any]
    config: dict[str, Any]
    code: str
    start_us: float
    best_us: float
    start_spills: int | None = None
    best_spills: int | None = None
