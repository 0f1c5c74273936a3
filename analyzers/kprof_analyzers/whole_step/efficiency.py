"""What share of a GPU's published peaks torch's own operators reach, fitted to public traces."""

import math
import sys
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from kprof_analyzers.profiles.timeline.operators.arguments import Work
from kprof_analyzers.profiles.timeline.operators.rooflines import RooflineLimits, bound_of
from kprof_analyzers.whole_step.kinds import ResultTiles, kind_at


class Efficiency(msgspec.Struct, frozen=True):
    """How far a kind of operator is from the roofline.

    Attributes:
        share: of the limit that holds, for a call that fills the GPU.
        floor_us: what a call takes at least, however little it does; each of its products, where it has several.
        low, high: the measured time lies between these multiples of the predicted one, nine times in ten.
        rows: operators with equal shapes that this was fitted to.
        gpus: products on which they were measured.
        filled: power of the share of the compute units that have a tile, by which the share of the limit falls.
        columns: power of the result's columns over 512, likewise; 0 where either is no matter.
    """

    share: float
    floor_us: float
    low: float
    high: float
    rows: int
    gpus: tuple[str, ...]
    filled: float = 0.0
    columns: float = 0.0

    def time_us(self, least_us: float, tiles: ResultTiles | None, compute_units: int | None) -> float:
        """What a call takes that would take ``least_us`` at the limit."""
        return self.floor_us * (tiles.products if tiles else 1) + least_us / self.reached(tiles, compute_units)

    def reached(self, tiles: ResultTiles | None, compute_units: int | None) -> float:
        """Share of the limit that a call with so many tiles reaches."""
        found = self.share
        if tiles is not None and tiles.count and compute_units:
            found *= min(1.0, tiles.count / compute_units) ** self.filled
        if tiles is not None and tiles.columns:
            found *= min(1.0, tiles.columns / _MANY_COLUMNS) ** self.columns
        return found


_MANY_COLUMNS = 512


class CallTime(msgspec.Struct, frozen=True):
    """Predicted time of a call, microseconds.

    Attributes:
        us: the time.
        low_us, high_us: where it is likely to lie.
        bound: ``HBM``, a matrix peak, or ``launch`` where the call is too small for either.
    """

    us: float
    low_us: float
    high_us: float
    bound: str


@cache
def efficiencies(gpu: str = "") -> dict[str, Efficiency]:
    """Kind of operator to its efficiency on a product, that of all products together where it has too few rows."""
    figures = _figures()
    return msgspec.convert({**figures["kinds"], **figures["gpus"].get(gpu, {})}, dict[str, Efficiency])


@cache
def efficiencies_of_type(name: str) -> dict[str, Efficiency]:
    """Kind of operator to its efficiency with operands of a type (``fp32``), for those where that is another one."""
    return msgspec.convert(_figures().get("types", {}).get(name, {}), dict[str, Efficiency])


@cache
def _figures() -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(resources.files(__package__).joinpath("efficiency.toml").read_text(encoding="utf-8"))


def operator_time(
    kind: str, work: Work, limits: RooflineLimits, tiles: ResultTiles | None = None, passes: int = 1
) -> CallTime | None:
    """Time of one call; ``None`` where the GPU's limit for it is not known.

    Args:
        kind: of the operator.
        work: what it does in one pass.
        limits: of the GPU.
        tiles: how its result is spread.
        passes: through memory, at most. The range is from one to all of them, the time between the two in proportion.
    """
    bound, least_ns = bound_of(work, limits)
    if least_ns is None:
        return None
    fitted = _fitted(kind_at(kind, bound), limits.gpu, bound)
    us = fitted.time_us(least_ns / 1e3, tiles, limits.compute_units)
    if passes > 1:
        middle = us * math.sqrt(passes)
        return CallTime(middle, us * fitted.low, us * passes * fitted.high, bound)
    return CallTime(
        us, us * fitted.low, us * fitted.high, bound if us > 2 * fitted.time_us(0.0, tiles, None) else "launch"
    )


def _fitted(kind: str, gpu: str, bound: str = "") -> Efficiency:
    """Kinds that no trace has, fills, gathers and scatters, count as element-wise.

    Where a matrix peak bounds it and its type has a share of its own, that one.
    """
    of_type = efficiencies_of_type(bound.removeprefix("matrix_"))
    if kind in of_type:
        return of_type[kind]
    known = efficiencies(gpu)
    return known.get(kind, known["elementwise"])


def empty_launch_us(gpu: str) -> float:
    """What a call takes that does next to nothing: the least time of an element-wise operator, microseconds."""
    return efficiencies(gpu)["elementwise"].floor_us


def measured_elsewhere(kinds: Iterable[str], gpu: str) -> tuple[list[str], list[str]]:
    """Of some kinds those that were not measured on a product, and the products on which they were."""
    found = {kind: one for kind in kinds if gpu not in (one := _fitted(kind, gpu)).gpus}
    return sorted(found), sorted({name for one in found.values() for name in one.gpus})
