"""Rate differences: whether a change is for the worse, and how much it matters."""

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from kprof.diffing.document import Change, Effect
from kprof.diffing.facts import Number
from kprof.diffing.limits import DiffLimits
from kprof.findings import Location, Severity

ORDER = (
    "model_us",
    "hot_cycles",
    "loop_spills",
    "lds_over_limit",
    "vgpr_spills",
    "sgpr_spills",
    "scratch_bytes",
    "waves_per_simd",
    "width",
    "drains",
    "loop_instructions",
    "lds_bytes",
    "vgpr_allocated",
    "finding",
    "agpr",
    "sgpr",
    "loop_class",
    "matrix",
    "loops",
    "instructions",
)
"""Kinds of changes, in order of harm, with the most harmful first."""

FEWER_IS_WORSE = frozenset({"waves_per_simd", "width"})
"""Kinds for which a decrease is worse. For other kinds except the neutral ones, an increase is worse."""
_NEUTRAL = frozenset({"loops", "matrix"})
"""Kinds of which a change is neither worse nor better."""

# Relative rounding error of the ratio of two iterations' work.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class ComparedFigure:
    """The values of a figure on both sides, with what is needed to rate their difference.

    Attributes:
        kind: a key of :data:`ORDER`.
        text: name of the figure for people.
        old, new: values that are shown.
        severity: severity of a change of this figure.
        metric: name of the figure in the document; by default ``kind``.
        scale: work of a new iteration divided by that of an old one: ``new`` is compared with ``old`` times this
            factor.
        negligible: relative difference, as a share of the larger value, below which nothing is reported.
        where, hot, note, fix, saves_us, location: as in :class:`kprof.diffing.document.Change`.
    """

    kind: str
    text: str
    old: Number
    new: Number
    severity: Severity
    metric: str = ""
    scale: float = 1.0
    negligible: float = 0.0
    where: str = ""
    hot: bool = False
    note: str = ""
    fix: str = ""
    saves_us: Number = None
    location: Location | UnsetType = UNSET


def rate(found: ComparedFigure, limits: DiffLimits) -> Iterator[Change]:
    """Yield the change of a figure; yield nothing if both sides are equal or differ negligibly."""
    metric = found.metric or found.kind
    severity, effect = found.severity, _effect(found)
    if effect is None:
        return
    if effect != "unknown" and found.old is not None and found.new is not None:
        if limits.tolerated(metric, found.old * found.scale, found.new):
            severity = Severity.NOTE
    elif severity is Severity.ERROR:
        severity = Severity.WARNING
    yield Change(
        metric=metric,
        text=found.text,
        old=found.old,
        new=found.new,
        effect=effect,
        severity=severity,
        rank=ORDER.index(found.kind),
        where=found.where,
        hot=found.hot,
        note=found.note,
        fix=found.fix,
        saves_us=found.saves_us,
        location=found.location,
    )


def is_worse(metric: str, before: float, now: float) -> bool:
    """Return whether a metric got worse, in the direction and with the rounding that `diff` and `check` share.

    Args:
        metric: name of the metric in the document.
        before: the earlier value, or the limit.
        now: the value to judge, in the same unit.
    """
    return _effect(ComparedFigure(metric, "", before, now, Severity.NOTE)) == "worse"


def _effect(found: ComparedFigure) -> Effect | None:
    if found.old is None or found.new is None:
        return None if found.old is None and found.new is None else "unknown"
    expected = found.old * found.scale
    if abs(found.new - expected) <= max(found.negligible, _ROUNDING) * max(abs(found.new), abs(expected)):
        return None
    if found.kind in _NEUTRAL:
        return "neutral"
    return "worse" if (found.new > expected) != (found.kind in FEWER_IS_WORSE) else "better"
