"""Charts: bars, whose widths the style sheet draws, and the occupancy curve as inline SVG."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from kprof.details import Curve

if TYPE_CHECKING:
    from markupsafe import Markup

    from kprof.document import Prediction

_WIDTH, _HEIGHT = 520, 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 12, 30, 24, 28
_FIRST_VGPRS = 16
_NAMES = {"vgpr": "VGPRs of a lane", "lds": "LDS of a workgroup"}


@dataclass(frozen=True)
class Segment:
    """A segment of a stacked bar: its name, its class in the style sheet, and its width in percent."""

    name: str
    css: str
    percent: float


def segments(shares: Mapping[str, float], of: float = 1.0, least: float = 0.0) -> list[Segment]:
    """Return the segments of a stacked bar.

    Args:
        shares: shares by name.
        of: sum of shares that fills the whole bar.
        least: shares up to this value are left out.
    """
    whole = of or 1.0
    return [
        Segment(cause_name(name), cause_class(name), round(100 * min(1.0, max(0.0, share) / whole), 2))
        for name, share in shares.items()
        if share > least
    ]


def cause_name(cause: str) -> str:
    """Return the readable name of a cause of lost time."""
    return {"lds": "LDS", "matrix": "matrix units", "vector": "vector units"}.get(cause, cause)


def cause_class(cause: str) -> str:
    """Return the style sheet's class for a cause of lost time; unknown causes share one class."""
    known = ("matrix", "vector", "lds", "memory latency", "memory bandwidth", "barrier", "issue", "scratch", "launch")
    return f"c-{cause.replace(' ', '-')}" if cause in known else "c-other"


@dataclass(frozen=True)
class ChartRange:
    """Positions of the likely range, the prediction and the speed of light on a line, in percent of its length."""

    low: float
    high: float
    point: float
    light: float | None


def time_range(prediction: "Prediction") -> ChartRange | None:
    """Return the positions of the predicted time and its range on a logarithmic line; ``None`` if not known."""
    low, time, high = prediction.low_us, prediction.time_us, prediction.high_us
    if low is None or time is None or high is None or not 0 < low <= time <= high < float("inf"):
        return None
    light = prediction.speed_of_light_us
    first = min(low, light) if light is not None and light > 0 else low
    start, length = log(first) - 0.1, log(high) - log(first) + 0.2
    place = {value: round(100 * (log(value) - start) / length, 2) for value in (low, time, high)}
    at_light = round(100 * (log(light) - start) / length, 2) if light is not None and light > 0 else None
    return ChartRange(place[low], place[high], place[time], at_light)


def curve_title(curve: Curve) -> str:
    """Describe an occupancy curve in words, for screen readers, and in place of the picture if the curve is flat."""
    name = _NAMES[curve.resource]
    if len(curve.steps) == 1:
        return f"{name}: any amount gives {curve.steps[0].waves_per_simd:g}, another resource is the limit"
    return f"Wavefronts on a SIMD over {name}"


def occupancy_curve(curve: Curve) -> "Markup":
    """Return wavefronts per SIMD as a function of a resource, with the kernel marked; empty if the curve is flat.

    Registers are on a logarithmic axis, because one register matters more where there are few.
    """
    from markupsafe import Markup

    if len(curve.steps) < 2:
        return Markup("")
    axis = _Axis(curve)
    line = f"M{_LEFT} {axis.y(curve.steps[0].waves_per_simd)}"
    marks: list[str] = []
    for step in curve.steps:
        start, end, height = axis.x(step.first), axis.x(step.last), axis.y(step.waves_per_simd)
        line += f"V{height}H{end}"
        if end - start > 24 or step.current:
            marks.append(f'<text x="{(start + end) / 2:.1f}" y="{height - 7}">{step.waves_per_simd:g}</text>')
    for amount, at in axis.ticks():
        label = f"{amount / 1024:g} KiB" if curve.resource == "lds" else str(amount)
        marks.append(f'<path class="axis" d="M{at} {axis.y(0)}v4"/><text x="{at}" y="{axis.y(0) + 18}">{label}</text>')
    here = next((step.waves_per_simd for step in curve.steps if step.current), None)
    if here is not None:
        marks.append(f'<circle class="here" cx="{axis.x(curve.amount)}" cy="{axis.y(here)}" r="5"/>')
    words = ", ".join(f"up to {s.last:,}: {s.waves_per_simd:g}" for s in curve.steps)
    body = f'<path class="axis" d="M{_LEFT} {_TOP - 8}V{axis.y(0)}H{_WIDTH - _RIGHT}"/><path class="curve" d="{line}"/>'
    return Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        _WIDTH,
        _HEIGHT,
        words,
        Markup(body + "".join(marks)),  # noqa: S704 - numbers and our own words only
    )


class _Axis:
    """Coordinates of amounts and occupancies in the picture."""

    def __init__(self, curve: Curve) -> None:
        self._curve = curve
        self._top = max(1.0, *(step.waves_per_simd for step in curve.steps))
        self._logarithmic = curve.resource == "vgpr"
        self._first, self._last = (
            self._scaled(_FIRST_VGPRS if self._logarithmic else 0),
            self._scaled(curve.steps[-1].last),
        )

    def _scaled(self, amount: float) -> float:
        return log(max(_FIRST_VGPRS, amount)) if self._logarithmic else float(amount)

    def x(self, amount: float) -> float:
        share = (self._scaled(amount) - self._first) / max(1e-9, self._last - self._first)
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, waves: float) -> float:
        return round(_TOP + (1 - waves / self._top) * (_HEIGHT - _TOP - _BOTTOM), 1)

    def ticks(self) -> list[tuple[int, float]]:
        """Return the ends of the steps whose labels have room, with their positions on the axis."""
        found: list[tuple[int, float]] = []
        before = -100.0
        for step in self._curve.steps:
            at = self.x(step.last)
            if at - before >= (64 if self._curve.resource == "lds" else 32) and at > _LEFT:
                found.append((step.last, at))
                before = at
        return found
