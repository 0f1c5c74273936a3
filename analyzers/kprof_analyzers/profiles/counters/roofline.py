"""Place kernels under the rooflines of arithmetic and of each memory level, and draw them as text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kprof_analyzers.profiles.counters.kernels import KernelCounters
from kprof_analyzers.profiles.counters.machine import MeasuredGpu
from kprof_analyzers.profiles.counters.metrics import Metric, all_metrics, metrics

if TYPE_CHECKING:
    from kprof.inputs.rocprof import Data

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MATRIX = ("matrix_fp16", "matrix_bf16", "matrix_fp8", "matrix_fp32", "matrix_fp64")
_VECTOR = ("valu_fp32", "valu_fp64")
# For each memory level, the metrics whose sum is the used bandwidth, and the constant with the published peak.
_LEVELS = {
    "HBM": (("hbm_read_bandwidth", "hbm_write_bandwidth"), "hbm_peak"),
    "L2": (("l2_bandwidth",), "l2_peak"),
    "vL1D": (("vl1d_bandwidth",), "vl1d_peak"),
    "LDS": (("lds_bandwidth",), "lds_peak"),
}
# Names of peaks in rocprof-compute's roofline.csv.
_MEASURED = {
    "HBMBw": "HBM", "L2Bw": "L2", "L1Bw": "vL1D", "LDSBw": "LDS",
    "FP32Flops": "valu_fp32", "FP64Flops": "valu_fp64", "MFMAF8Flops": "matrix_fp8", "MFMAF16Flops": "matrix_fp16",
    "MFMABF16Flops": "matrix_bf16", "MFMAF32Flops": "matrix_fp32", "MFMAF64Flops": "matrix_fp64",
}  # fmt: skip


@dataclass(frozen=True)
class Roof:
    """One roof of the roofline plot: a memory bandwidth or an arithmetic rate.

    Attributes:
        name: name for users.
        bandwidth: GB/s of a slanted roof (a memory level); ``None`` for a flat roof.
        flop_rate: GFLOP/s of a flat roof (a kind of arithmetic); ``None`` for a slanted roof.
        origin: ``product`` (published) or ``measured`` (the workload's roofline.csv).
    """

    name: str
    bandwidth: float | None = None
    flop_rate: float | None = None
    origin: str = "product"

    def at(self, intensity: float) -> float:
        """Return the maximum GFLOP/s at an intensity in FLOP/byte."""
        if self.flop_rate is not None:
            return self.flop_rate
        return (self.bandwidth or 0.0) * intensity


@dataclass(frozen=True)
class Level:
    """Bandwidth that a kernel uses of one memory level.

    Attributes:
        name: ``HBM``, ``L2``, ``vL1D`` or ``LDS``.
        bandwidth: used bandwidth in GB/s; ``None`` if a counter is missing.
        peak: peak bandwidth in GB/s; ``None`` if unknown.
        origin: origin of the peak, as in :class:`Roof`.
    """

    name: str
    bandwidth: float | None
    peak: float | None
    origin: str = "product"

    @property
    def share(self) -> float | None:
        """Share of the peak that is used, 0 to 1."""
        return self.bandwidth / self.peak if self.bandwidth is not None and self.peak else None


@dataclass(frozen=True)
class Point:
    """Position of one kernel under the roofline.

    Attributes:
        kernel: name of the kernel.
        intensity: FLOP per byte of HBM traffic; ``None`` if unknown.
        flop_rate: reached GFLOP/s; ``None`` if unknown.
        bandwidth: used GB/s of the fabric between L2 and memory; ``None`` if unknown.
        limit: GFLOP/s that the nearest roof allows at this intensity.
        bound: name of the nearest roof: a memory level, or a kind of arithmetic.
        share: reached share of the nearest roof, 0 to 1; for a kernel without arithmetic, share of the bandwidth.
        missing: counters that must be collected for the values that are ``None``.
        reason: reason why the kernel cannot be placed, in words.
        levels: bandwidths of the memory levels.
    """

    kernel: str
    intensity: float | None
    flop_rate: float | None
    bandwidth: float | None
    limit: float | None
    bound: str
    share: float | None
    missing: tuple[str, ...] = ()
    reason: str = ""
    levels: tuple[Level, ...] = ()


def roofs(gpu: MeasuredGpu, data: "Data | None" = None) -> list[Roof]:
    """Return the roofs of the GPU, one per name: as measured on the machine if the data has them, else as published."""
    found: dict[str, Roof] = {}
    for level, (_, constant) in _LEVELS.items():
        if gpu.product is not None and constant in gpu.constants:
            found[level] = Roof(level, bandwidth=gpu.constants[constant])
    if gpu.product is not None:
        wanted = {*_MATRIX, *_VECTOR, "valu_fp32_packed", "matrix_f8f6f4", "matrix_fp4"}
        peaks = gpu.product.peaks.items()
        found.update({name: Roof(name, flop_rate=rate * 1000) for name, rate in peaks if name in wanted})
    measured = data.table("peaks") if data is not None else None
    if measured is not None and len(measured):
        means = measured.groupby(measured["name"].astype(str), observed=True)["value"].mean()
        for written, value in means.items():
            name = _MEASURED.get(str(written))
            if name is not None and value > 0:
                kind = "bandwidth" if name in _LEVELS else "flop_rate"
                found[name] = Roof(name, origin="measured", **{kind: float(value)})
    return list(found.values())


def place_all(kernels: Sequence[KernelCounters], gpu: MeasuredGpu, limits: list[Roof]) -> list[Point]:
    """Return the positions of kernels of one GPU; see :func:`place`."""
    found = all_metrics(kernels, lambda _: gpu)
    return [_placed(kernel, derived, limits) for kernel, derived in zip(kernels, found, strict=True)]


def place(kernel: KernelCounters, gpu: MeasuredGpu, limits: list[Roof]) -> Point:
    """Return the position of a kernel, with its nearest roof.

    The flat roof is that of the kernel's main kind of arithmetic. If MFMA instructions do more operations than the
    VALU, the kind is matrix arithmetic in the type with the most operations. Otherwise it is vector arithmetic. The
    slanted roofs are the memory levels whose traffic was counted.
    """
    return _placed(kernel, metrics(kernel, gpu), limits)


def _placed(kernel: KernelCounters, found: dict[str, Metric], limits: list[Roof]) -> Point:
    levels = _levels(found, limits)
    rate, intensity = _metric_named(found, "flop_rate"), _metric_named(found, "hbm_intensity")
    read, write = _metric_named(found, "hbm_read_bandwidth"), _metric_named(found, "hbm_write_bandwidth")
    bandwidth = next((level.bandwidth for level in levels if level.name == "HBM"), None)
    needed = [metric for metric in (rate, intensity, read, write) if metric is not None]
    missing = tuple(sorted({counter for metric in needed for counter in metric.missing}))
    flop_rate = rate.value if rate else None
    ratio = intensity.value if intensity else None
    if flop_rate is None or ratio is None or bandwidth is None:
        reason = _reason(needed, missing)
        return Point(kernel.name, ratio, flop_rate, bandwidth, None, "", None, missing, reason, levels)
    shares = {level.name: level.share for level in levels if level.share is not None}
    if flop_rate == 0:
        bound = max(shares, key=lambda name: shares[name], default="HBM")
        words = "it computes no floating point"
        return Point(kernel.name, 0.0, 0.0, bandwidth, None, bound, shares.get(bound), (), words, levels)
    flat = _flat(found, limits)
    if flat is not None and flat.flop_rate:
        shares[flat.name] = flop_rate / flat.flop_rate
    if not shares:
        reason = "the product is not known, so there are no peaks; name it with --arch"
        return Point(kernel.name, ratio, flop_rate, bandwidth, None, "", None, (), reason, levels)
    bound = max(shares, key=lambda name: shares[name])
    share = shares[bound]
    return Point(
        kernel.name, ratio, flop_rate, bandwidth, flop_rate / share if share else None, bound, share, (), "", levels
    )


def _levels(found: dict[str, Metric], limits: list[Roof]) -> tuple[Level, ...]:
    by_name = {roof.name: roof for roof in limits if roof.bandwidth is not None}
    levels = []
    for name, (parts, _) in _LEVELS.items():
        if all(part in found for part in parts):
            values = [found[part].value for part in parts]
            known = [value for value in values if value is not None]
            roof = by_name.get(name)
            levels.append(
                Level(
                    name,
                    sum(known) if len(known) == len(values) else None,
                    roof.bandwidth if roof else None,
                    roof.origin if roof else "product",
                )
            )
    return tuple(levels)


def _metric_named(found: dict[str, Metric], name: str) -> Metric | None:
    return found.get(name)


def _reason(needed: list[Metric], missing: tuple[str, ...]) -> str:
    if not needed:
        return "no formulas for FLOP on this architecture"
    if missing:
        return "counters are missing"
    if any("ns" in metric.unknown for metric in needed):
        return "the kernel's time is not known: read a trace of the same program too"
    return "a constant of the GPU is not known" if any(metric.unknown for metric in needed) else "a counter is 0"


def _flat(found: dict[str, Metric], limits: list[Roof]) -> Roof | None:
    by_name = {roof.name: roof for roof in limits if roof.flop_rate is not None}
    flop = {name: found[name].value or 0.0 for name in ("flop", "mfma_flop", "valu_fp64_flop") if name in found}
    if flop.get("mfma_flop", 0.0) > flop.get("flop", 0.0) / 2:
        rates = {kind: (found[f"mfma_{kind}_rate"].value or 0.0) for kind in ("fp8", "fp16", "bf16", "fp32", "fp64")
                 if f"mfma_{kind}_rate" in found}  # fmt: skip
        return by_name.get(f"matrix_{max(rates, key=lambda kind: rates[kind])}") if rates else None
    wide = flop.get("valu_fp64_flop", 0.0) > flop.get("flop", 0.0) / 2
    names = ("valu_fp64",) if wide else ("valu_fp32", "valu_fp32_packed")
    return next((by_name[name] for name in names if name in by_name), None)


def draw(points: list[Point], limits: list[Roof], *, width: int = 72, height: int = 18) -> list[str]:
    """Return the lines of a plot with logarithmic axes. Kernels are letters, in the order of ``points``.

    The list is empty if no kernel can be placed.
    """
    shown = [point for point in points if point.intensity and point.flop_rate]
    if not shown:
        return []
    roofs = of_hbm(limits)
    x_range, y_range = ranges(shown, roofs)
    grid = [[" "] * width for _ in range(height)]

    def row_of(rate: float) -> int:
        return height - 1 - round((math.log10(rate) - y_range[0]) / (y_range[1] - y_range[0]) * (height - 1))

    for column in range(width):
        intensity = 10 ** (x_range[0] + (x_range[1] - x_range[0]) * column / (width - 1))
        # Only the limiting part of a roof is drawn: slanted roofs below the top, flat roofs right of the ridge.
        flat = max((roof.flop_rate for roof in roofs if roof.flop_rate), default=math.inf)
        slanted = max((roof.at(intensity) for roof in roofs if roof.bandwidth), default=math.inf)
        for roof in roofs:
            rate = roof.at(intensity)
            if 0 < rate <= min(flat, slanted) * 1.0001 and 0 <= row_of(rate) < height:
                grid[row_of(rate)][column] = "/" if roof.bandwidth else "-"
    for letter, point in zip(_LETTERS, shown, strict=False):
        column = round((math.log10(point.intensity or 1) - x_range[0]) / (x_range[1] - x_range[0]) * (width - 1))
        grid[max(0, min(height - 1, row_of(point.flop_rate or 1)))][max(0, min(width - 1, column))] = letter
    lines = []
    for number, cells in enumerate(grid):
        rate = 10 ** (y_range[1] - (y_range[1] - y_range[0]) * number / (height - 1))
        label = f"{rate:9.3g} " if number % 3 == 0 else " " * 10
        lines.append(label + "|" + "".join(cells).rstrip())
    lines.append(" " * 10 + "+" + "-" * width)
    low, high = (f"{10**end:.3g}" for end in x_range)
    lines.append(" " * 11 + low + " " * (width - len(low) - len(high)) + high)
    lines.append(" " * 11 + "x axis: FLOP/byte of HBM traffic; y axis: GFLOP/s")
    return lines


def of_hbm(limits: list[Roof]) -> list[Roof]:
    """Return the arithmetic roofs and the HBM roof, for a plot over FLOP per byte of HBM traffic."""
    return [roof for roof in limits if roof.flop_rate is not None or roof.name == "HBM"]


def ranges(points: list[Point], roofs: list[Roof]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the range of each axis as exponents of ten, wide enough for all points and the ridge."""
    intensities = [point.intensity for point in points if point.intensity]
    rates = [point.flop_rate for point in points if point.flop_rate]
    peaks = [roof.flop_rate for roof in roofs if roof.flop_rate]
    slopes = [roof.bandwidth for roof in roofs if roof.bandwidth]
    ridges = [max(peaks) / slope for slope in slopes] if peaks else []
    x = (math.floor(math.log10(min(intensities)) - 0.3), math.ceil(math.log10(max([*intensities, *ridges])) + 0.1))
    y = (math.floor(math.log10(min(rates)) - 0.3), math.ceil(math.log10(max([*rates, *peaks])) + 0.05))
    return (float(x[0]), float(max(x[1], x[0] + 1))), (float(y[0]), float(max(y[1], y[0] + 1)))
