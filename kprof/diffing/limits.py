"""Thresholds that decide which changes are significant."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from kprof.errors import KprofError, near_hint
from kprof.findings import Severity

TOLERANT = (
    "loop_spills",
    "vgpr_spills",
    "sgpr_spills",
    "scratch_bytes",
    "waves_per_simd",
    "vgpr_allocated",
    "lds_bytes",
    "drains",
    "loop_instructions",
    "instructions",
)
"""Metrics for which the user may set a tolerance."""


@dataclass(frozen=True)
class Tolerance:
    """Allowed difference of a metric: ``amount`` in the metric's unit, or a ``share`` of the larger value."""

    amount: float = 0.0
    share: float = 0.0

    def covers(self, old: float, new: float) -> bool:
        """Return whether the difference is within the tolerance, in either direction."""
        return abs(new - old) <= max(self.amount, self.share * max(abs(old), abs(new)))


@dataclass(frozen=True)
class DiffLimits:
    """Thresholds from which a comparison counts changes as significant.

    Attributes:
        fail_on: minimum severity at which a change for the worse makes a kernel ``worse``; ``None``: no change does.
        tolerances: allowed difference by metric.
    """

    fail_on: Severity | None = Severity.WARNING
    tolerances: dict[str, Tolerance] = field(default_factory=dict)

    @property
    def least(self) -> float:
        """Minimum severity, as a rank, of a significant change for the worse."""
        return math.inf if self.fail_on is None else self.fail_on.rank

    def tolerated(self, metric: str, old: float, new: float) -> bool:
        """Return whether the user's tolerances allow this difference."""
        tolerance = self.tolerances.get(metric)
        return tolerance is not None and tolerance.covers(old, new)


def tolerances(items: Iterable[str]) -> dict[str, Tolerance]:
    """Parse tolerances such as ``["vgpr_spills=4,loop_instructions=20%"]``.

    Raises:
        KprofError: an unknown metric, or a value that is not a number.
    """
    found: dict[str, Tolerance] = {}
    for item in (part.strip() for text in items for part in text.split(",")):
        if not item:
            continue
        name, equals, text = (part.strip() for part in item.partition("="))
        if name not in TOLERANT:
            raise KprofError(f"no tolerance for {name!r}", hint=near_hint(name, TOLERANT, "They are"))
        try:
            value = float(text.removesuffix("%"))
        except ValueError:
            value = -1.0
        if not equals or not 0 <= value < float("inf"):
            raise KprofError(f"--tolerance takes METRIC=NUMBER or METRIC=NUMBER%, got {item!r}")
        found[name] = Tolerance(share=value / 100) if text.endswith("%") else Tolerance(amount=value)
    return found
