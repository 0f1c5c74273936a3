"""A launch's measurements next to the performance model's prediction of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET

from kprof.measured import ModelComparison, Verdict

if TYPE_CHECKING:
    from kprof.document import KernelReport, Prediction
    from kprof_analyzers.profiles.measured.numbers import MeasuredNumbers


@dataclass(frozen=True)
class _Quantity:
    id: str
    title: str
    unit: str
    measured: "Callable[[dict[str, float]], float | None]"
    modelled: "Callable[[Prediction], float | None]"


def _time(values: dict[str, float]) -> float | None:
    # Counting slows a kernel down: a trace's time goes first.
    nanoseconds = values.get("trace_mean_ns", values.get("mean_ns"))
    return None if nanoseconds is None else nanoseconds / 1000


def _sum(*names: str) -> "Callable[[dict[str, float]], float | None]":
    def of(values: dict[str, float]) -> float | None:
        return sum(values[name] for name in names) if all(name in values for name in names) else None

    return of


def _l2(values: dict[str, float]) -> float | None:
    if "l2_bandwidth" not in values or "mean_ns" not in values:
        return None
    return values["l2_bandwidth"] * values["mean_ns"]


_QUANTITIES = (
    _Quantity("time_us", "time of a launch", "us", _time, lambda model: model.time_us),
    _Quantity("cycles", "cycles that the GPU is busy", "cycles", _sum("gui_cycles"), lambda model: model.cycles),
    _Quantity("clock_mhz", "clock", "MHz", _sum("clock"), lambda model: model.clock_mhz),
    _Quantity(
        "hbm_bytes", "bytes to and from memory", "bytes", _sum("hbm_read_bytes", "hbm_write_bytes"),
        lambda model: model.traffic.get("hbm"),
    ),
    _Quantity("l2_bytes", "bytes that L2 is asked for", "bytes", _l2, lambda model: model.traffic.get("l2")),
    _Quantity(
        "waves_per_simd", "wavefronts on a SIMD", "waves", _sum("waves_per_simd"),
        lambda model: model.waves_per_simd,
    ),
)  # fmt: skip


def compare(report: "KernelReport", numbers: "MeasuredNumbers", doubt: str) -> list[ModelComparison]:
    """Each quantity that was both measured and modelled.

    Its time has a range: that is confirmed or refuted, where what ran is what was modelled. Of the other quantities no
    range is known, so that they are only shown side by side.

    Args:
        report: the kernel with its prediction.
        numbers: what was measured.
        doubt: why what ran may be another kernel; empty when it is this one.
    """
    if report.model is UNSET:
        return []
    model = report.model
    why = numbers.incomplete or doubt or _other_launch(model, numbers)
    found = []
    for quantity in _QUANTITIES:
        measured, modelled = quantity.measured(numbers.values), quantity.modelled(model)
        if measured is None or modelled is None:
            continue
        low, high = (model.low_us, model.high_us) if quantity.id == "time_us" else (None, None)
        standing, words = _standing(measured, modelled, (low, high), why)
        found.append(
            ModelComparison(quantity.id, quantity.title, quantity.unit, measured, modelled, low, high, standing, words)
        )
    return found


def _other_launch(model: "Prediction", numbers: "MeasuredNumbers") -> str:
    ran = numbers.values.get("workgroups")
    if ran is None or model.workgroups is None:
        return "the number of workgroups is not recorded"
    if ran != model.workgroups:
        return f"another launch: {ran:,.0f} workgroups measured, {model.workgroups:,} modelled"
    return ""


def _standing(measured: float, modelled: float, likely: Sequence[float | None], why: str) -> tuple[Verdict, str]:
    low, high = likely
    if why:
        return "cannot tell", why
    if low is None or high is None:
        return "cannot tell", "no range is known"
    if low <= measured <= high:
        return "confirmed", "within the model's range"
    if not modelled or not measured:
        return "refuted", "outside the model's range"
    off = modelled / measured
    words = f"the model is {off:.2f} times too slow" if off > 1 else f"the model is {1 / off:.2f} times too fast"
    return "refuted", f"outside the model's range: {words}"
