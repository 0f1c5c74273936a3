"""Fit what torch's own operators reach of a GPU's peaks, and say how well that predicts traces it was not fitted to.

    python scripts/fit_operators.py TRACE[,TRACE]... --tuned bf16_tuned_gemm.csv ... [--write]

Traces need shapes (``record_shapes=True``) and a GPU whose peaks are known. Those with commas between share parts of
their models, and are left out together. Tuned tables are AITER's
(``aiter/configs/**/*bf16_tuned_gemm.csv``): of those, the products that torch's own operator won. ``--write`` renews
``analyzers/kprof_analyzers/whole_step/efficiency.toml`` and ``docs/validation/operators.md``.
"""

import argparse
import csv
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec.structs import replace

import kprof
from kprof.hardware.machine import find_product
from kprof_analyzers.profiles.timeline.operators.rooflines import bound_of, limits_of_product
from kprof_analyzers.profiles.timeline.operators.work import Work
from kprof_analyzers.whole_step.efficiency import Efficiency
from kprof_analyzers.whole_step.kinds import ResultTiles, kind_at, kind_of_shapes, tiles_of

ROOT = Path(__file__).parents[1]
FILE = ROOT / "analyzers/kprof_analyzers/whole_step/efficiency.toml"
PAGE = ROOT / "docs/validation/operators.md"
_SHARES = [0.02 * 1.06**n for n in range(68)]
_FLOORS = [*(0.5 * n for n in range(1, 41)), *(5.0 * n for n in range(5, 13))]
_POWERS = [0.1 * n for n in range(11)]
_FILLED = ("product", "convolution", "pointwise convolution", "convolution of few channels", "attention")
"""Kinds whose share falls where there are fewer tiles than compute units."""
_COLUMNS = ("convolution",)
"""Kinds whose share falls with the result's columns."""
_LARGEST = 5
_FEW = 8
"""Rows below which a kind has the widest range that another kind has."""


_ENOUGH = 20
"""Rows below which a GPU's range for a kind is no narrower than that of all GPUs."""


@dataclass(frozen=True)
class Row:
    """Calls of an operator with equal shapes: microseconds a call, measured and at the limit.

    Attributes:
        source: file that has it.
        family: that are left out together with it.
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
        """Of its GPU."""
        product = find_product(self.gpu)
        return product.compute_units if product else None


def rows_of(path: Path, family: str) -> list[Row]:
    """The operators of a trace that have a kind and a limit."""
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
"""Architecture and CUs, as the tables have them, to the product that is taken to have been measured."""


def rows_of_table(path: Path) -> list[Row]:
    """The products of a tuned table for which torch's own operator was the fastest, each size once."""
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
"""GPU, empty for all together, and kind to what is reached."""


def fitted(rows: Iterable[Row]) -> Fits:
    """Share of the limit and least time of each kind, by the least sum of absolute logarithms; 5 to 95 % of ratios.

    A GPU has figures of its own for kinds of which it has enough rows, where other GPUs have rows of that kind, too.
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
    best = {key: _best(some) for key, some in chosen.items()}
    ratios = {key: [row.measured / _time(row, best[key]) for row in some] for key, some in chosen.items()}
    ends = {key: _ends(some) for key, some in ratios.items() if len(some) >= _FEW}
    widest = min((low for low, _ in ends.values()), default=1.0), max((high for _, high in ends.values()), default=1.0)
    found = {}
    for key, one in best.items():
        low, high = ends.get(key, widest)
        if len(ratios[key]) < _ENOUGH and ("", key[1]) in ends:
            low, high = min(low, ends["", key[1]][0]), max(high, ends["", key[1]][1])
        gpus = tuple(sorted({row.gpu for row in chosen[key]}))
        found[key] = replace(one, low=low, high=high, rows=len(ratios[key]), gpus=gpus)
    return found


def _fit_of(row: Row, fits: Fits) -> Efficiency:
    return fits.get((row.gpu, row.kind)) or fits["", row.kind]


def _best(rows: Sequence[Row]) -> Efficiency:
    """The figures with the least sum of absolute logarithms, one after the other until none moves."""
    kind = rows[0].kind
    choices = {
        "share": _SHARES,
        "floor_us": _FLOORS,
        "filled": _POWERS if kind in _FILLED else [0.0],
        "columns": _POWERS if kind in _COLUMNS else [0.0],
    }
    error = _error_of(rows)
    found = [_descended(error, choices, start) for start in _STARTS]
    at = min(found, key=error)
    return Efficiency(**at, low=1.0, high=1.0, rows=len(rows), gpus=())


_STARTS = [(share, floor) for share in (0.1, 0.5) for floor in (3.0, 20.0)]
_ROUNDS = 12

_Figures = dict[str, float]


def _descended(
    error: Callable[[_Figures], float], choices: Mapping[str, Sequence[float]], start: tuple[float, float]
) -> _Figures:
    at = {"share": start[0], "floor_us": start[1], "filled": 0.0, "columns": 0.0}
    for _ in range(_ROUNDS):
        before = at
        for name, values in choices.items():
            at = min(({**at, name: value} for value in values), key=error)
        if at == before:
            break
    return at


def _error_of(rows: Sequence[Row]) -> Callable[[_Figures], float]:
    """The sum of absolute logarithms by the figures, all rows at once: :meth:`Efficiency.time_us` in arrays."""
    one = Efficiency(1.0, 0.0, 1.0, 1.0, 0, (), filled=1.0)
    filled = np.log([one.reached(row.tiles, row.compute_units) for row in rows])
    columns = np.log([replace(one, filled=0.0, columns=1.0).reached(row.tiles, None) for row in rows])
    measured, least = np.log([row.measured for row in rows]), np.array([row.least for row in rows])
    products = np.array([row.tiles.products if row.tiles else 1 for row in rows])

    def error(at: _Figures) -> float:
        reached = at["share"] * np.exp(at["filled"] * filled + at["columns"] * columns)
        return float(np.abs(measured - np.log(at["floor_us"] * products + least / reached)).sum())

    return error


def _time(row: Row, one: Efficiency) -> float:
    return one.time_us(row.least, row.tiles, row.compute_units)


def _ends(ratios: Sequence[float]) -> tuple[float, float]:
    """A range that holds nine of ten: the next more extreme value where the quantile falls between two."""
    ordered = sorted(ratios)
    cut = math.floor(0.05 * len(ordered))
    return min(1.0, ordered[cut]), max(1.0, ordered[-1 - cut])


def toml(found: Fits, rows: Sequence[Row]) -> str:
    """The file of efficiencies."""
    lines = [
        "# What torch's own operators reach of the published peaks. Written by scripts/fit_operators.py, not by hand:",
        "# a call takes floor_us and the time at the limit over share; nine of ten lie between low and high of that.",
        "# filled and columns: powers by which the share falls, see efficiency.py.",
        "# kinds: of all GPUs together; gpus: of one, where there is enough of it.",
        "",
        "sources = [",
        *(f'    "{source}",' for source in sorted({row.source for row in rows})),
        "]",
    ]
    for (gpu, kind), one in found.items():
        table = f'gpus.{gpu}."{kind}"' if gpu else f'kinds."{kind}"'
        lines += ["", f"[{table}]", f"share = {one.share:.3f}", f"floor_us = {one.floor_us:.1f}"]
        lines += [f"{name} = {value:.1f}" for name in ("filled", "columns") if (value := getattr(one, name))]
        lines += [f"low = {one.low:.2f}", f"high = {one.high:.2f}", f"rows = {one.rows}"]
        lines.append(f"gpus = {list(one.gpus)}".replace("'", '"'))
    return "\n".join(lines) + "\n"


def page(rows: Sequence[Row]) -> str:
    """How well each source is predicted by a fit to the others."""
    sources = sorted({row.source for row in rows}, key=lambda name: (name.endswith(".csv"), name))
    families = {row.source: row.family for row in rows}
    without = {family: fitted(row for row in rows if row.family != family) for family in set(families.values())}
    fits = {source: without[families[source]] for source in sources}
    known = [row for row in rows if ("", row.kind) in fits[row.source]]
    lines = [_HEAD]
    lines += ["| left out | GPU | operators | median ratio | in range | sum | of the ten longest | largest kinds |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for source in sources:
        for gpu in sorted({row.gpu for row in rows if row.source == source}):
            own = [row for row in known if row.source == source and row.gpu == gpu]
            lines.append(f"| `{source}` | {gpu} | {len(own)} | {_judged(own, fits[source])} |")
    lines += ["", *_whole(rows, fits), *_alone(rows)]
    lines += ["", "By kind and GPU, over what was left out:", ""]
    lines += ["| kind | GPU | operators | median ratio | in range |", "|---|---|---|---|---|"]
    for kind, gpu in sorted({(row.kind, row.gpu) for row in rows}):
        own = [row for row in known if (row.kind, row.gpu) == (kind, gpu)]
        lines.append(f"| {kind} | {gpu} | {_by_kind(own, fits)} |")
    lines += ["", _ELSEWHERE, ""]
    lines += ["| kind | GPU left out | operators | median ratio | in range |", "|---|---|---|---|---|"]
    for kind, gpu in sorted({(row.kind, row.gpu) for row in rows}):
        others = fitted(row for row in rows if row.gpu != gpu)
        own = [row for row in rows if (row.kind, row.gpu) == (kind, gpu) and ("", kind) in others]
        if own:
            lines.append(f"| {kind} | {gpu} | {_by_kind(own, {row.source: others for row in own})} |")
    return "\n".join(lines) + "\n"


def _whole(rows: Sequence[Row], fits: Mapping[str, Fits]) -> list[str]:
    """How many traces have a sum that is right within a quarter."""
    traces = sorted({row.source for row in rows if not row.source.endswith(".csv")})
    sums = {one: _sum_ratio([row for row in rows if row.source == one], fits[one]) for one in traces}
    near = sum(1 / _NEAR <= ratio <= _NEAR for ratio in sums.values())
    return [f"The sum is within 25 % for {near} of {len(sums)} traces."]


_NEAR = 1.25


def _sum_ratio(rows: Sequence[Row], fit: Fits) -> float:
    known = [row for row in rows if ("", row.kind) in fit]
    return sum(_predicted(row, fit) * row.calls for row in known) / sum(row.measured * row.calls for row in known)


def _alone(rows: Sequence[Row]) -> list[str]:
    """Sources that share parts of their models with others, left out without these."""
    found = []
    for source in sorted({row.source for row in rows if "," in row.family}):
        fit = fitted(row for row in rows if row.source != source)
        own = [row for row in rows if row.source == source and ("", row.kind) in fit]
        found.append(f"| `{source}` | {own[0].gpu} | {len(own)} | {_judged(own, fit)} |")
    head = "| left out alone | GPU | operators | median ratio | in range | sum | of the ten longest | largest kinds |"
    return ["", head, "|---|---|---|---|---|---|---|---|", *found] if found else []


def _by_kind(own: Sequence[Row], fits: Mapping[str, Fits]) -> str:
    if not own:
        return "0 | one source has it: nothing to judge it by | "
    ratios = [_predicted(row, fits[row.source]) / row.measured for row in own]
    held = sum(_holds(row, fits[row.source]) for row in own)
    return f"{len(own)} | {statistics.median(ratios):.2f} | {held} of {len(own)}"


_ELSEWHERE = "A GPU of which nothing was measured, by the others:"

_HEAD = """# Torch's operators: predicted and measured

`kprof profile` gives torch's own operators the time at the roofline over the share of it that their kind reached in
public measurements, and a least time for a call. A kind is what is run by a like algorithm: a product that memory
limits is a `thin product`, a convolution of 1 x 1 is one of its own, a softmax of rows over 1,024 elements is `long`.
The share of products, convolutions and attention falls where there are fewer tiles than compute units, that of
convolutions also with their channels.

Each source below is predicted by a fit to the others. A ratio is predicted over measured. "Sum" is that ratio of all
calls together, "of the ten longest" counts operators that are so by both, and "largest kinds" the five largest by
time that have the same place by both.

Traces (`.json.gz`) are of an MI300X: those of `AMD-AGI/TraceLens` at 171dd74721, and older ones of it. Three of them,
`xdit_*`, are of picture generators that share their text encoders and their decoder of pictures: all three are left
out together, and judged a second time alone. The tables (`.csv`) are those of AITER's repository, commit e4048607a5,
with the products for which torch's own operator was the fastest of all that were tried there: they flatter it. They
name the architecture and its CUs: gfx950 with 256 is taken to be an MI355X, gfx942 with 80 an MI308X.
"""


def _judged(own: Sequence[Row], fit: Fits) -> str:
    if not own:
        return "- | - | - | - | -"
    ratios = [_predicted(row, fit) / row.measured for row in own]
    held = sum(_holds(row, fit) for row in own)
    whole = _sum_ratio(own, fit)
    longest = [
        {(row.name, row.shapes) for row in sorted(own, key=key)[:10]}
        for key in (lambda row: -row.measured * row.calls, lambda row: -_predicted(row, fit) * row.calls)
    ]
    both = len(longest[0] & longest[1])
    kinds = [_largest_kinds(own, time) for time in (lambda row: row.measured, lambda row: _predicted(row, fit))]
    placed = sum(a == b for a, b in zip(*kinds, strict=True))
    cells = f"{statistics.median(ratios):.2f} | {held} of {len(own)} | {whole:.2f} | {both} of {len(longest[0])}"
    return f"{cells} | {placed} of {len(kinds[0])}"


def _largest_kinds(rows: Sequence[Row], time: Callable[[Row], float]) -> list[str]:
    sums: defaultdict[str, float] = defaultdict(float)
    for row in rows:
        sums[row.kind] += time(row) * row.calls
    return sorted(sums, key=lambda kind: (-sums[kind], kind))[:_LARGEST]


def _predicted(row: Row, fit: Fits) -> float:
    return _time(row, _fit_of(row, fit))


def _holds(row: Row, fit: Fits) -> bool:
    one, us = _fit_of(row, fit), _predicted(row, fit)
    return one.low * us <= row.measured <= one.high * us


def main() -> None:
    """Fit, print, and write where that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("traces", nargs="+", metavar="TRACE[,TRACE]")
    parser.add_argument("--tuned", nargs="*", type=Path, default=[], help="AITER's tuned tables")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = [row for word in asked.traces for path in word.split(",") for row in rows_of(Path(path), word)]
    # A size that several tables have counts once.
    tuned = {(row.gpu, row.shapes): row for path in sorted(asked.tuned) for row in rows_of_table(path)}
    rows += tuned.values()
    figures, told = toml(fitted(rows), rows), page(rows)
    print(figures, told, sep="\n")
    if asked.write:
        FILE.write_text(figures, encoding="utf-8")
        PAGE.write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
