"""Fit what torch's own operators reach of a GPU's peaks, and say how well that predicts traces it was not fitted to.

    python scripts/fit_operators.py TRACE... --tuned bf16_tuned_gemm.csv ... [--write]

Traces need shapes (``record_shapes=True``) and a GPU whose peaks are known. Tuned tables are AITER's
(``aiter/configs/**/*bf16_tuned_gemm.csv``): of those, the products that torch's own operator won. ``--write`` renews
``analyzers/kprof_analyzers/whole_step/efficiency.toml`` and ``docs/validation/operators.md``.
"""

import argparse
import csv
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import kprof
from kprof.hardware.machine import find_product
from kprof_analyzers.profiles.timeline.operators.rooflines import bound_of, limits_of_product
from kprof_analyzers.profiles.timeline.operators.work import Work
from kprof_analyzers.whole_step.efficiency import Efficiency, kind_at
from kprof_analyzers.whole_step.operator_work import kind_of_shapes

ROOT = Path(__file__).parents[1]
FILE = ROOT / "analyzers/kprof_analyzers/whole_step/efficiency.toml"
PAGE = ROOT / "docs/validation/operators.md"
_SHARES = [0.02 * 1.06**n for n in range(68)]
_FLOORS = [0.5 * n for n in range(1, 41)]
_FEW = 8
"""Rows below which a kind has the widest range that another kind has."""


_ENOUGH = 20
"""Rows below which a GPU's range for a kind is no narrower than that of all GPUs."""


@dataclass(frozen=True)
class Row:
    """Calls of an operator with equal shapes: microseconds a call, measured and at the limit."""

    source: str
    gpu: str
    name: str
    shapes: str
    kind: str
    calls: int
    measured: float
    least: float


def rows_of(path: Path) -> list[Row]:
    """The operators of a trace that have a kind and a limit."""
    found = []
    for one in kprof.trace_ops(path).traces:
        for row in one.rows:
            kind = kind_of_shapes(row.name, [_extents(word) for word in row.shapes.split()])
            if kind and row.least_ns and one.limits is not None:
                measured, least = row.total_ns / row.calls / 1e3, row.least_ns / row.calls / 1e3
                kind = kind_at(kind, row.bound)
                found.append(Row(path.name, one.limits.gpu, row.name, row.shapes, kind, row.calls, measured, least))
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
                found[gpu, shapes] = Row(path.name, gpu, "aten::mm", shapes, kind, 1, float(row["us"]), least / 1e3)
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
    ratios = {key: [row.measured / _time(row, *best[key]) for row in some] for key, some in chosen.items()}
    ends = {key: _ends(some) for key, some in ratios.items() if len(some) >= _FEW}
    widest = min((low for low, _ in ends.values()), default=1.0), max((high for _, high in ends.values()), default=1.0)
    found = {}
    for key, (share, floor) in best.items():
        low, high = ends.get(key, widest)
        if len(ratios[key]) < _ENOUGH and ("", key[1]) in ends:
            low, high = min(low, ends["", key[1]][0]), max(high, ends["", key[1]][1])
        gpus = tuple(sorted({row.gpu for row in chosen[key]}))
        found[key] = Efficiency(share, floor, low, high, len(ratios[key]), gpus)
    return found


def _fit_of(row: Row, fits: Fits) -> Efficiency:
    return fits.get((row.gpu, row.kind)) or fits["", row.kind]


def _best(rows: Sequence[Row]) -> tuple[float, float]:
    return min(
        ((share, floor) for share in _SHARES for floor in _FLOORS),
        key=lambda one: sum(abs(math.log(row.measured / _time(row, *one))) for row in rows),
    )


def _time(row: Row, share: float, floor: float) -> float:
    return floor + row.least / share


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
        "# kinds: of all GPUs together; gpus: of one, where there is enough of it.",
        "",
        "sources = [",
        *(f'    "{source}",' for source in sorted({row.source for row in rows})),
        "]",
    ]
    for (gpu, kind), one in found.items():
        table = f'gpus.{gpu}."{kind}"' if gpu else f'kinds."{kind}"'
        lines += ["", f"[{table}]", f"share = {one.share:.3f}", f"floor_us = {one.floor_us:.1f}"]
        lines += [f"low = {one.low:.2f}", f"high = {one.high:.2f}", f"rows = {one.rows}"]
        lines.append(f"gpus = {list(one.gpus)}".replace("'", '"'))
    return "\n".join(lines) + "\n"


def page(rows: Sequence[Row]) -> str:
    """How well each source is predicted by a fit to the others."""
    sources = sorted({row.source for row in rows}, key=lambda name: (name.endswith(".csv"), name))
    fits = {source: fitted(row for row in rows if row.source != source) for source in sources}
    known = [row for row in rows if ("", row.kind) in fits[row.source]]
    lines = [_HEAD]
    lines += ["| left out | GPU | operators | median ratio | in range | sum | of the ten longest |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for source in sources:
        for gpu in sorted({row.gpu for row in rows if row.source == source}):
            own = [row for row in known if row.source == source and row.gpu == gpu]
            lines.append(f"| `{source}` | {gpu} | {len(own)} | {_judged(own, fits[source])} |")
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


def _by_kind(own: Sequence[Row], fits: Mapping[str, Fits]) -> str:
    if not own:
        return "0 | one source has it: nothing to judge it by | "
    ratios = [_predicted(row, fits[row.source]) / row.measured for row in own]
    held = sum(_holds(row, fits[row.source]) for row in own)
    return f"{len(own)} | {statistics.median(ratios):.2f} | {held} of {len(own)}"


_ELSEWHERE = "A GPU of which nothing was measured, by the others:"

_HEAD = """# Torch's operators: predicted and measured

`kprof profile` gives torch's own operators the time at the roofline over the share of it that their kind reached in
public measurements, and a least time for a call. Each source below is predicted by a fit to the others. A ratio is
predicted over measured. "Sum" is that ratio of all calls together, and "of the ten longest" counts operators that are
so by both.

Traces (`.json.gz`) are of an MI300X. The tables (`.csv`) are those of AITER's repository, commit e4048607a5, with the
products for which torch's own operator was the fastest of all that were tried there: they flatter it. They name the
architecture and its CUs: gfx950 with 256 is taken to be an MI355X, gfx942 with 80 an MI308X. `thin product` is a
product that memory limits, as those of few rows.
"""


def _judged(own: Sequence[Row], fit: Fits) -> str:
    if not own:
        return "- | - | - | -"
    ratios = [_predicted(row, fit) / row.measured for row in own]
    held = sum(_holds(row, fit) for row in own)
    whole = sum(_predicted(row, fit) * row.calls for row in own) / sum(row.measured * row.calls for row in own)
    longest = [
        {(row.name, row.shapes) for row in sorted(own, key=key)[:10]}
        for key in (lambda row: -row.measured * row.calls, lambda row: -_predicted(row, fit) * row.calls)
    ]
    both = len(longest[0] & longest[1])
    return f"{statistics.median(ratios):.2f} | {held} of {len(own)} | {whole:.2f} | {both} of {len(longest[0])}"


def _predicted(row: Row, fit: Fits) -> float:
    one = _fit_of(row, fit)
    return _time(row, one.share, one.floor_us)


def _holds(row: Row, fit: Fits) -> bool:
    one, us = _fit_of(row, fit), _predicted(row, fit)
    return one.low * us <= row.measured <= one.high * us


def main() -> None:
    """Fit, print, and write where that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--tuned", nargs="*", type=Path, default=[], help="AITER's tuned tables")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = [row for path in asked.traces for row in rows_of(path)]
    # A size that several tables have counts once.
    tuned = {(row.gpu, row.shapes): row for path in sorted(asked.tuned) for row in rows_of_table(path)}
    rows += tuned.values()
    found = fitted(rows)
    print(toml(found, rows))
    print(page(rows))
    if asked.write:
        FILE.write_text(toml(found, rows), encoding="utf-8")
        PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
