"""Fit the share of a GPU's peaks that kinds of measured operators reach; :mod:`fit_operators` writes the result."""

import csv
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec.structs import replace

import kprof
from kprof.hardware.machine import find_product
from kprof_analyzers.profiles.timeline.operators.arguments import Work
from kprof_analyzers.profiles.timeline.operators.rooflines import bound_of, limits_of_product
from kprof_analyzers.whole_step.efficiency import Efficiency
from kprof_analyzers.whole_step.kinds import ResultTiles, kind_at, kind_of_shapes, tiles_of

_SHARES = [0.02 * 1.06**n for n in range(68)]
_FLOORS = [*(0.5 * n for n in range(1, 41)), *(5.0 * n for n in range(5, 13))]
_POWERS = [0.1 * n for n in range(11)]
_FILLED = (
    "product", "convolution", "pointwise convolution", "convolution of few channels", "attention", "batch norm", "norm",
)  # fmt: skip
"""Kinds whose share falls if there are fewer tiles, channels or rows than compute units."""
_DEPTHS = [0.25 * n for n in range(13)]
_DEEP = ("product", "thin product")
"""Kinds whose time also depends on the depth, which a workgroup goes through step by step."""
_COLUMNS = ("convolution",)
"""Kinds whose share depends on the number of the result's columns."""
_LIKE = {
    "attention": "product", "convolution": "product", "pointwise convolution": "product",
    "convolution of few channels": "product", "batched product": "thin product", "small products": "thin product",
    "batch norm": "norm", "softmax": "elementwise",
}  # fmt: skip
"""Map kinds to the kind whose share is assumed if there are few rows; for example, convolutions run like products."""
_HELD = 0.5
"""Weight, in rows with an error factor of e, of the squared log ratio of a kind's share to that of its similar kind."""
_SPREAD = {"batch norm": 1.0, "norm": 0.5}
"""Expected powers: one workgroup computes a channel of a batch norm alone, and rows of other norms in part."""
_SPREAD_HELD = 3.0
"""Weight of the squared difference from an expected power."""
_FOLDS = 5
"""Number of parts in which sources are held out to compute the ranges."""
_FEW = 8
"""A kind with fewer rows gets the widest range of all kinds."""


_ENOUGH = 20
"""With fewer rows, a GPU's range for a kind is at least as wide as that of all GPUs."""


@dataclass(frozen=True)
class Row:
    """Calls of an operator with equal shapes: microseconds per call, measured and at the limit.

    Attributes:
        source: file that contains the calls.
        family: name of the group of sources that are held out together.
    """

    source: str
    family: str
    gpu: str
    name: str
    shapes: str
    kind: str
    calls: int
    measured: float
    least: float
    tiles: ResultTiles | None = None

    @property
    def compute_units(self) -> int | None:
        """Number of compute units of the row's GPU."""
        product = find_product(self.gpu)
        return product.compute_units if product else None


def rows_of(path: Path, family: str) -> list[Row]:
    """Return the operators of a trace that have a kind and a limit."""
    found = []
    for one in kprof.trace_ops(path).traces:
        for row in one.rows:
            shapes = [_extents(word) for word in row.shapes.split()]
            kind = kind_of_shapes(row.name, shapes)
            if kind and row.least_ns and one.limits is not None:
                measured, least = row.total_ns / row.calls / 1e3, row.least_ns / row.calls / 1e3
                tiles, kind = tiles_of(row.name, shapes, row.flop), kind_at(kind, row.bound)
                gpu = one.limits.gpu
                found.append(Row(path.name, family, gpu, row.name, row.shapes, kind, row.calls, measured, least, tiles))
    return found


_PRODUCTS = {("gfx950", "256"): "MI355X", ("gfx942", "80"): "MI308X", ("gfx942", "304"): "MI300X"}
"""Map architecture and number of CUs, as in the tables, to the product that is assumed to have been measured."""


def rows_of_table(path: Path) -> list[Row]:
    """Return the products of a tuned table for which torch's own operator was the fastest, each size once."""
    found = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            gpu = _PRODUCTS.get((row["gfx"], row["cu_num"]))
            product = find_product(gpu) if gpu else None
            if row["libtype"] != "torch" or row["dtype"] != "torch.bfloat16" or gpu is None or product is None:
                continue
            m, n, k = (int(row[name]) for name in "MNK")
            moved = 2 * (m * k + n * k) + (4 if "float32" in row["outdtype"] else 2) * m * n
            bound, least = bound_of(Work(2 * m * n * k, moved, "matrix_bf16"), limits_of_product(product))
            if least is not None:
                kind = kind_at("product", bound)
                shapes = f"{m}x{k} {k}x{n}"
                tiles = tiles_of("aten::mm", [(m, k), (k, n)], 2 * m * n * k)
                us, least = float(row["us"]), least / 1e3
                found[gpu, shapes] = Row(path.name, path.name, gpu, "aten::mm", shapes, kind, 1, us, least, tiles)
    return list(found.values())


def _extents(word: str) -> tuple[int, ...]:
    return tuple(int(extent) for extent in word.split("x")) if word != "scalar" else ()


Fits = Mapping[tuple[str, str], Efficiency]
"""Map a GPU (empty for all together) and a kind to the fitted figures."""


def fitted(rows: Iterable[Row]) -> Fits:
    """Fit share of the limit and minimum time of each kind; ranges cover 5 to 95 % of the ratios.

    The fit has the least sum of absolute log errors.

    A GPU has its own figures for kinds with enough rows, if other GPUs also have rows of the kind.
    """
    groups: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups["", row.kind].append(row)
        groups[row.gpu, row.kind].append(row)
    chosen = {
        (gpu, kind): some
        for (gpu, kind), some in sorted(groups.items())
        if not gpu or _FEW <= len(some) < len(groups["", kind])
    }
    best: dict[tuple[str, str], Efficiency] = {}
    # Kinds that other kinds are similar to come first.
    for key in sorted(chosen, key=lambda key: (key[1] in _LIKE, key)):
        best[key] = _best(chosen[key], best.get(("", _LIKE.get(key[1], ""))))
    ratios = {key: _left_out(some, best.get(("", _LIKE.get(key[1], "")))) for key, some in chosen.items()}
    ends = {key: _ends(some) for key, some in ratios.items() if len(some) >= _FEW}
    widest = min((low for low, _ in ends.values()), default=1.0), max((high for _, high in ends.values()), default=1.0)
    found = {}
    for key, one in best.items():
        low, high = ends.get(key, widest)
        if len(ratios[key]) < _ENOUGH and ("", key[1]) in ends:
            low, high = min(low, ends["", key[1]][0]), max(high, ends["", key[1]][1])
        gpus = tuple(sorted({row.gpu for row in chosen[key]}))
        found[key] = replace(one, low=low, high=high, rows=len(chosen[key]), gpus=gpus)
    return found


def _left_out(rows: Sequence[Row], like: Efficiency | None) -> list[float]:
    """Return measured over predicted time of each row by a fit to the other sources; empty for a single source."""
    families = sorted({row.family for row in rows})
    if len(families) < 2:
        return []
    found = []
    for fold in range(min(_FOLDS, len(families))):
        away = set(families[fold::_FOLDS])
        one = _best([row for row in rows if row.family not in away], like)
        found += [row.measured / time_of(row, one) for row in rows if row.family in away]
    return found


def fit_of(row: Row, fits: Fits) -> Efficiency:
    """Return the figures that apply to a row: its GPU's own, if available."""
    return fits.get((row.gpu, row.kind)) or fits["", row.kind]


def _best(rows: Sequence[Row], like: Efficiency | None = None) -> Efficiency:
    """Return the figures with the least sum of absolute log errors; figures are optimised in turn until none changes.

    Args:
        rows: rows of one kind.
        like: figures of the similar kind.
    """
    key = (tuple(map(id, rows)), like.share if like else 0.0)
    if key not in _KNOWN:
        _KNOWN[key] = _found(rows, like)
    return _KNOWN[key]


_KNOWN: dict[tuple[tuple[int, ...], float], Efficiency] = {}
"""Cache of fits, because the same sources occur repeatedly; rows live as long as the program."""


def _found(rows: Sequence[Row], like: Efficiency | None) -> Efficiency:
    kind = rows[0].kind
    choices = {
        "share": _SHARES,
        "floor_us": _FLOORS,
        "filled": _POWERS if kind in _FILLED else [0.0],
        "columns": _POWERS if kind in _COLUMNS else [0.0],
        "depth_ns": _DEPTHS if kind in _DEEP else [0.0],
    }
    measured = _error_of(rows)

    def error(at: _Figures) -> float:
        off = measured(at)
        if like is not None:
            off += _HELD * math.log(at["share"] / like.share) ** 2
        if kind in _SPREAD:
            off += _SPREAD_HELD * (at["filled"] - _SPREAD[kind]) ** 2
        return off

    found = [_descended(error, choices, start) for start in _STARTS]
    at = min(found, key=error)
    return Efficiency(**at, low=1.0, high=1.0, rows=len(rows), gpus=())


_STARTS = [(share, floor) for share in (0.1, 0.5) for floor in (3.0, 20.0)]
_ROUNDS = 12

_Figures = dict[str, float]


def _descended(
    error: Callable[[_Figures], float], choices: Mapping[str, Sequence[float]], start: tuple[float, float]
) -> _Figures:
    at = {"share": start[0], "floor_us": start[1], "filled": 0.0, "columns": 0.0, "depth_ns": 0.0}
    for _ in range(_ROUNDS):
        before = at
        for name, values in choices.items():
            at = min(({**at, name: value} for value in values), key=error)
        if at == before:
            break
    return at


def _error_of(rows: Sequence[Row]) -> Callable[[_Figures], float]:
    """Return the sum of absolute log errors, for all rows at once: :meth:`Efficiency.time_us` with arrays."""
    one = Efficiency(1.0, 0.0, 1.0, 1.0, 0, (), filled=1.0)
    filled = np.log([one.reached(row.tiles, row.compute_units) for row in rows])
    columns = np.log([replace(one, filled=0.0, columns=1.0).reached(row.tiles, None) for row in rows])
    measured, least = np.log([row.measured for row in rows]), np.array([row.least for row in rows])
    products = np.array([row.tiles.products if row.tiles else 1 for row in rows])
    depths = np.array([row.tiles.depth / 1e3 if row.tiles else 0.0 for row in rows])

    def error(at: _Figures) -> float:
        reached = at["share"] * np.exp(at["filled"] * filled + at["columns"] * columns)
        floors = (at["floor_us"] + at["depth_ns"] * depths) * products
        return float(np.abs(measured - np.log(floors + least / reached)).sum())

    return error


def time_of(row: Row, one: Efficiency) -> float:
    """Return the predicted microseconds of a call."""
    return one.time_us(row.least, row.tiles, row.compute_units)


def _ends(ratios: Sequence[float]) -> tuple[float, float]:
    """Return a range that contains nine of ten ratios; between two values, the more extreme one is used."""
    ordered = sorted(ratios)
    cut = math.floor(0.05 * len(ordered))
    return min(1.0, ordered[cut]), max(1.0, ordered[-1 - cut])
