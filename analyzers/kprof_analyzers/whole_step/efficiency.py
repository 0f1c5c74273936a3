"""Predict the time of torch's own operators from the shares of the GPU's peaks that they reach in public traces."""

import math
import sys
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from kprof.hardware.machine import Product
from kprof_analyzers.profiles.timeline.operators.arguments import Work
from kprof_analyzers.profiles.timeline.operators.rooflines import RooflineLimits, bound_of
from kprof_analyzers.whole_step.kinds import ResultTiles, kind_at


class Efficiency(msgspec.Struct, frozen=True):
    """How close a kind of operator comes to its roofline limit.

    Attributes:
        share: share of its limit that a call reaches if it fills the GPU.
        floor_us: fixed time of a call, or of each product of a call with several products, in microseconds.
        low, high: 90 % of measured times lie between these multiples of the predicted time.
        rows: number of different combinations of operator and shapes in the fit.
        gpus: products on which the operators were measured.
        filled: exponent of the share of the compute units that have a tile; the reached share falls with this power.
        columns: exponent of the result's columns divided by 512; the reached share falls with this power. 0 means no
            dependence.
        depth_ns: additional nanoseconds of a product for each element of its depth (K), through which a workgroup steps
            serially.
    """

    share: float
    floor_us: float
    low: float
    high: float
    rows: int
    gpus: tuple[str, ...]
    filled: float = 0.0
    columns: float = 0.0
    depth_ns: float = 0.0

    def time_us(self, least_us: float, tiles: ResultTiles | None, compute_units: int | None) -> float:
        """Return the predicted microseconds of a call that would take ``least_us`` at its roofline limit."""
        floor_us = self.floor_us + self.depth_ns * (tiles.depth if tiles else 0) / 1e3
        return floor_us * (tiles.products if tiles else 1) + least_us / self.reached(tiles, compute_units)

    def reached(self, tiles: ResultTiles | None, compute_units: int | None) -> float:
        """Return the share of the limit that a call with these tiles reaches."""
        found = self.share
        if tiles is not None and tiles.count and compute_units:
            found *= min(1.0, tiles.count / compute_units) ** self.filled
        if tiles is not None and tiles.columns:
            found *= min(1.0, tiles.columns / _MANY_COLUMNS) ** self.columns
        return found


_MANY_COLUMNS = 512


class CallTime(msgspec.Struct, frozen=True):
    """Predicted time of a call in microseconds.

    Attributes:
        us: the time.
        low_us, high_us: likely range of the time.
        bound: ``HBM``, a matrix peak, or ``launch`` if the call is too small for either.
    """

    us: float
    low_us: float
    high_us: float
    bound: str


@cache
def efficiencies(gpu: str = "") -> dict[str, Efficiency]:
    """Return the efficiency of each kind of operator on a product.

    Kinds with too few measurements on this product have the efficiency fitted to all products. A sweep over the sizes
    of one kind takes precedence over operators of traces, and whole programs over both. A kind for one type of operands
    ends with the type: ``product fp32``.
    """
    figures = figures_by_part()
    of_gpu = [figures.get(part, {}).get(gpu, {}) for part in ("gpus", "sweeps", "programs")]
    found = {**figures["kinds"], **dict(pair for part in of_gpu for pair in part.items())}
    return msgspec.convert(found, dict[str, Efficiency])


@cache
def efficiencies_of_type(name: str) -> dict[str, Efficiency]:
    """Return the efficiencies that were fitted separately for one type of operands (``fp32``), by kind of operator."""
    return msgspec.convert(figures_by_part().get("types", {}).get(name, {}), dict[str, Efficiency])


@cache
def figures_by_part() -> dict[str, Any]:
    """Return the content of ``efficiency.toml`` by table name; all callers share the returned object."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(resources.files(__package__).joinpath("efficiency.toml").read_text(encoding="utf-8"))


def operator_time(
    kind: str,
    work: Work,
    limits: RooflineLimits,
    tiles: ResultTiles | None = None,
    *,
    passes: int = 1,
    launches: int = 1,
) -> CallTime | None:
    """Return the time of one call; ``None`` if the GPU's limit for it is unknown.

    Args:
        kind: kind of the operator.
        work: work of one pass.
        limits: limits of the GPU.
        tiles: distribution of the result over the GPU.
        passes: maximum number of passes through memory. The range covers one to ``passes`` passes; the predicted time
            is their geometric mean.
        launches: number of kernels that run one after the other, each with the kind's fixed time.
    """
    bound, least_ns = bound_of(work, limits)
    if least_ns is None:
        return None
    fitted = fitted_to(kind_at(kind, bound), limits.gpu, bound)
    us = fitted.time_us(least_ns / 1e3, tiles, limits.compute_units)
    if passes > 1:
        fixed = fitted.time_us(0.0, tiles, None)
        middle = fixed * launches + (us - fixed) * math.sqrt(passes)
        return CallTime(middle, us * fitted.low, us * passes * fitted.high, bound)
    return CallTime(
        us, us * fitted.low, us * fitted.high, bound if us > 2 * fitted.time_us(0.0, tiles, None) else "launch"
    )


def fitted_to(kind: str, gpu: str, bound: str = "") -> Efficiency:
    """Return the fit of a kind; kinds without a fit (fills, gathers, scatters) count as element-wise.

    If a matrix peak is the bound and the operand type has its own fit, on this product or else on any, that fit is
    returned. Batches of products occur in few traces, so they reach the share of single products of their operand type.
    """
    known, type_name = efficiencies(gpu), bound.removeprefix("matrix_")
    of_type = efficiencies_of_type(type_name)
    own = {name: known.get(f"{name} {type_name}") or of_type.get(name) for name in (kind, "product")}
    if (typed := own[kind]) is not None:
        return typed
    found = known.get(kind, known["elementwise"])
    if kind == "batched product" and (one := own["product"]) is not None:
        return msgspec.structs.replace(found, share=one.share, filled=one.filled, low=one.low, high=one.high)
    return found


INDEXED_PER_CYCLE = 0.44
"""Elements that torch's indexing kernels move per cycle and CU.

One eager program of SOL-ExecBench-ROCm on an MI355X gives 230 to 290 elements of bfloat16 per nanosecond for 10 to 67
million elements, and 90 to 210 for 1 to 4 million, where fixed times count, if the predicted time of its other
operators is subtracted (``validation/fit_programs.py`` prints them). A second program agrees only if the figures for
batches of products are those fitted together with this number. The same number per cycle and CU is assumed for other
GPUs.
"""


def indexed_us(elements: int, product: Product) -> float:
    """Return the minimum microseconds of a kernel that moves elements by index; 0 if the GPU's units are not known."""
    if not product.compute_units or not product.clock_mhz:
        return 0.0
    return elements / (INDEXED_PER_CYCLE * product.compute_units * product.clock_mhz)


def empty_launch_us(gpu: str) -> float:
    """Return the microseconds of a call with negligible work: the fixed time of an element-wise operator."""
    return efficiencies(gpu)["elementwise"].floor_us


def measured_elsewhere(kinds: Iterable[str], gpu: str) -> tuple[list[str], list[str]]:
    """Return which of the kinds were not measured on a product, and the products on which they were measured."""
    found = {kind: one for kind in kinds if gpu not in (one := fitted_to(kind, gpu)).gpus}
    return sorted(found), sorted({name for one in found.values() for name in one.gpus})
