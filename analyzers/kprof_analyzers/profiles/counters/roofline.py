"""A kernel's place under the roofline: how much it computes for each byte, and how fast."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kprof_analyzers.profiles.counters.kernels import KernelCounters
from kprof_analyzers.profiles.counters.machine import Gpu
from kprof_analyzers.profiles.counters.metrics import Metric, metrics

if TYPE_CHECKING:
    from kprof.inputs.rocprof import Data

_MATRIX = ("matrix_fp16", "matrix_bf16", "matrix_fp8", "matrix_fp32", "matrix_fp64")
_VECTOR = ("valu_fp32", "valu_fp64")


@dataclass(frozen=True)
class Roof:
    """A limit.

    Attributes:
        name: for people.
        bandwidth: GB/s, of a slanted roof.
        flop_rate: GFLOP/s, of a flat one.
        origin: ``product`` (published) or ``measured`` (the workload's roofline.csv).
    """

    name: str
    bandwidth: float | None = None
    flop_rate: float | None = None
    origin: str = "product"

    def at(self, intensity: float) -> float:
        """GFLOP/s that it allows at an intensity in FLOP/byte."""
        if self.flop_rate is not None:
            return self.flop_rate
        return (self.bandwidth or 0.0) * intensity


@dataclass(frozen=True)
class Point:
    """One kernel.

    Attributes:
        kernel: name.
        intensity: FLOP a byte of HBM traffic; ``None`` when it cannot be told.
        flop_rate: GFLOP/s.
        bandwidth: GB/s over the fabric.
        limit: GFLOP/s that the lowest roof allows there.
        bound: the lowest roof's name.
        share: of that roof, 0 to 1 (of HBM bandwidth for a kernel that computes nothing).
        missing: counters to collect when something is ``None``.
        reason: why it cannot be placed, in words.
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


def roofs(gpu: Gpu, data: "Data | None" = None) -> list[Roof]:
    """Published limits of the product, and those measured on the machine when the data has them."""
    found: list[Roof] = []
    if gpu.product is not None:
        hbm = gpu.product.memory.get("hbm")
        if hbm and hbm.bandwidth_gbs:
            found.append(Roof("HBM", bandwidth=hbm.bandwidth_gbs))
        found += [Roof(name, flop_rate=rate * 1000) for name, rate in gpu.product.peaks.items()
                  if name in {*_MATRIX, *_VECTOR, "valu_fp32_packed", "matrix_f8f6f4", "matrix_fp4"}]  # fmt: skip
    peaks = data.table("peaks") if data is not None else None
    if peaks is not None and len(peaks):
        means = peaks.groupby(peaks["name"].astype(str), observed=True)["value"].mean()
        found += [Roof(f"{name} measured", bandwidth=float(value), origin="measured")
                  for name, value in means.items() if str(name) in {"HBMBw", "L2Bw", "L1Bw", "LDSBw"}]  # fmt: skip
        found += [Roof(f"{name} measured", flop_rate=float(value), origin="measured")
                  for name, value in means.items() if str(name).endswith("Flops")]  # fmt: skip
    return found


def place(kernel: KernelCounters, gpu: Gpu, limits: list[Roof]) -> Point:
    """Where a kernel is, and the roof above it.

    The flat roof is that of the kind of arithmetic it mostly does: matrix when MFMA does more than the VALU, the
    fastest type that it used.
    """
    found = metrics(kernel, gpu)
    rate, intensity = _of(found, "flop_rate"), _of(found, "hbm_intensity")
    read, write = _of(found, "hbm_read_bandwidth"), _of(found, "hbm_write_bandwidth")
    bandwidth = (
        read.value + write.value if read and write and read.value is not None and write.value is not None else None
    )
    needed = [metric for metric in (rate, intensity, read, write) if metric is not None]
    missing = tuple(sorted({counter for metric in needed for counter in metric.missing}))
    flop_rate = rate.value if rate else None
    ratio = intensity.value if intensity else None
    if flop_rate is None or ratio is None or bandwidth is None:
        return Point(kernel.name, ratio, flop_rate, bandwidth, None, "", None, missing, _reason(needed, missing))
    slanted = next((roof for roof in limits if roof.name == "HBM"), None)
    if flop_rate == 0:
        share = bandwidth / slanted.bandwidth if slanted and slanted.bandwidth else None
        return Point(kernel.name, 0.0, 0.0, bandwidth, None, "HBM", share, (), "it computes no floating point")
    flat = _flat(found, limits)
    above = [roof for roof in (slanted, flat) if roof is not None]
    if not above:
        reason = "the product is not known, so there are no peaks; name it with --arch"
        return Point(kernel.name, ratio, flop_rate, bandwidth, None, "", None, (), reason)
    lowest = min(above, key=lambda roof: roof.at(ratio))
    limit = lowest.at(ratio)
    return Point(kernel.name, ratio, flop_rate, bandwidth, limit, lowest.name, flop_rate / limit if limit else None)


def _of(found: dict[str, Metric], name: str) -> Metric | None:
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
    by_name = {roof.name: roof for roof in limits if roof.flop_rate is not None and roof.origin == "product"}
    flop = {name: found[name].value or 0.0 for name in ("flop", "mfma_flop", "valu_fp64_flop") if name in found}
    if flop.get("mfma_flop", 0.0) > flop.get("flop", 0.0) / 2:
        rates = {kind: (found[f"mfma_{kind}_rate"].value or 0.0) for kind in ("fp8", "fp16", "bf16", "fp32", "fp64")
                 if f"mfma_{kind}_rate" in found}  # fmt: skip
        return by_name.get(f"matrix_{max(rates, key=lambda kind: rates[kind])}") if rates else None
    wide = flop.get("valu_fp64_flop", 0.0) > flop.get("flop", 0.0) / 2
    names = ("valu_fp64",) if wide else ("valu_fp32", "valu_fp32_packed")
    return next((by_name[name] for name in names if name in by_name), None)
