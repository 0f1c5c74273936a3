"""What a search for better knobs has found for a kernel, as a report has it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class KnownAdvice:
    """The first answer of ``kprof advise``. It was compiled; its time is predicted and nothing was measured.

    Attributes:
        change: knobs to their new values.
        config: all knobs.
        code: the configuration as code for ``triton.autotune``; switches of the environment on lines before it.
        start_us, best_us: predicted microseconds of a launch before and after.
        start_spills, best_spills: VGPRs spilled a lane before and after; ``None`` where that is not known.
    """

    change: dict[str, Any]
    config: dict[str, Any]
    code: str
    start_us: float
    best_us: float
    start_spills: int | None = None
    best_spills: int | None = None
