"""Fit what torch's own operators reach of a GPU's peaks, and say how well that predicts traces it was not fitted to.

    python scripts/fit_operators.py TRACE... [--write]

Traces need shapes (``record_shapes=True``) and a GPU whose peaks are known. ``--write`` renews
``analyzers/kprof_analyzers/whole_step/efficiency.toml`` and ``docs/validation/operators.md``.
"""

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import kprof
from kprof_analyzers.whole_step.efficiency import Efficiency
from kprof_analyzers.whole_step.operator_work import kind_of_shapes

ROOT = Path(__file__).parents[1]
FILE = ROOT / "analyzers/kprof_analyzers/whole_step/efficiency.toml"
PAGE = ROOT / "docs/validation/operators.md"
_SHARES = [0.02 * 1.06**n for n in range(68)]
_FLOORS = [0.5 * n for n in range(1, 21)]
_FEW = 8
"""Rows below which a kind has the range of all kinds together."""


@dataclass(frozen=True)
class Row:
    """Calls of an operator with equal shapes: microseconds a call, measured and at the limit."""

    trace: str
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
                found.append(Row(path.name, one.limits.gpu, row.name, row.shapes, kind, row.calls, measured, least))
    return found


def _extents(word: str) -> tuple[int, ...]:
    return tuple(int(extent) for extent in word.split("x")) if word != "scalar" else ()


def fitted(rows: Iterable[Row]) -> dict[str, Efficiency]:
    """Share of the limit and least time of each kind, by the least sum of absolute logarithms; 5 to 95 % of ratios."""
    kinds = defaultdict(list)
    for row in rows:
        kinds[row.kind].append(row)
    best = {kind: _best(some) for kind, some in kinds.items()}
    ratios = {kind: [row.measured / _time(row, *best[kind]) for row in some] for kind, some in kinds.items()}
    everything = [ratio for some in ratios.values() for ratio in some]
    found = {}
    for kind, (share, floor) in sorted(best.items()):
        few = len(ratios[kind]) < _FEW
        low, high = _ends([*ratios[kind], *everything] if few else ratios[kind])
        found[kind] = Efficiency(share, floor, low, high, len(ratios[kind]))
    return found


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


def toml(found: Mapping[str, Efficiency], rows: Sequence[Row]) -> str:
    """The file of efficiencies."""
    traces = sorted({row.trace for row in rows})
    lines = [
        "# What torch's own operators reach of the published peaks. Written by scripts/fit_operators.py, not by hand:",
        "# a call takes floor_us and the time at the limit over share; nine of ten lie between low and high of that.",
        "",
        f"gpus = {sorted({row.gpu for row in rows})}".replace("'", '"'),
        f"traces = {traces}".replace("'", '"'),
    ]
    for kind, one in found.items():
        lines += ["", f'[kinds."{kind}"]', f"share = {one.share:.3f}", f"floor_us = {one.floor_us:.1f}"]
        lines += [f"low = {one.low:.2f}", f"high = {one.high:.2f}", f"rows = {one.rows}"]
    return "\n".join(lines) + "\n"


def page(rows: Sequence[Row]) -> str:
    """How well each trace is predicted by a fit to the others."""
    lines = [_HEAD]
    lines += ["| trace left out | operators | median ratio | in range | sum | of the ten longest |"]
    lines += ["|---|---|---|---|---|---|"]
    for trace in sorted({row.trace for row in rows}):
        fit = fitted(row for row in rows if row.trace != trace)
        own = [row for row in rows if row.trace == trace and row.kind in fit]
        lines.append(f"| `{trace}` | {len(own)} | {_judged(own, fit)} |")
    lines += ["", "By kind, over the traces that were left out:", ""]
    lines += ["| kind | operators | median ratio | in range |", "|---|---|---|---|"]
    fits = {trace: fitted(row for row in rows if row.trace != trace) for trace in {row.trace for row in rows}}
    for kind in sorted({row.kind for row in rows}):
        own = [row for row in rows if row.kind == kind and kind in fits[row.trace]]
        if own:
            ratios = [_predicted(row, fits[row.trace]) / row.measured for row in own]
            held = sum(_holds(row, fits[row.trace]) for row in own)
            lines.append(f"| {kind} | {len(own)} | {statistics.median(ratios):.2f} | {held} of {len(own)} |")
        else:
            lines.append(f"| {kind} | 0 | one trace has it: nothing to judge it by | |")
    return "\n".join(lines) + "\n"


_HEAD = """# Torch's operators: predicted and measured

`kprof profile` gives torch's own operators the time at the roofline over the share of it that their kind reached in
public traces, and a least time for a call. Each trace below is predicted by a fit to the others. A ratio is predicted
over measured. "Sum" is that ratio of all calls together, and "of the ten longest" counts operators that are so by both.

The traces are those of `scripts/fit_operators.py`; all are of an MI300X. Of other GPUs there is no public trace with
shapes and a name: there the same shares of their own peaks are assumed, which `kprof profile` says.
"""


def _judged(own: Sequence[Row], fit: Mapping[str, Efficiency]) -> str:
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


def _predicted(row: Row, fit: Mapping[str, Efficiency]) -> float:
    return _time(row, fit[row.kind].share, fit[row.kind].floor_us)


def _holds(row: Row, fit: Mapping[str, Efficiency]) -> bool:
    one, us = fit[row.kind], _predicted(row, fit)
    return one.low * us <= row.measured <= one.high * us


def main() -> None:
    """Fit, print, and write where that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = [row for path in asked.traces for row in rows_of(path)]
    found = fitted(rows)
    print(toml(found, rows))
    print(page(rows))
    if asked.write:
        FILE.write_text(toml(found, rows), encoding="utf-8")
        PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
