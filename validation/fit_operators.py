"""Fit the share of a GPU's peaks that torch's own operators reach, and measure the prediction error on other traces.

    python validation/fit_operators.py TRACE[,TRACE]... --tuned bf16_tuned_gemm.csv ... [--write]

Traces need shapes (``record_shapes=True``) and a GPU whose peaks are known. Traces joined by commas share parts of
their models and are held out together. Tuned tables are AITER's (``aiter/configs/**/*bf16_tuned_gemm.csv``); the
products for which torch's own operator was fastest are used. ``--write`` updates
``analyzers/kprof_analyzers/whole_step/efficiency.toml`` and ``docs/validation/operators.md``.
"""

import argparse
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fit_types import MARK
from operator_fits import Fits, Row, fit_of, fitted, rows_of, rows_of_table, time_of

ROOT = Path(__file__).parents[1]
FILE = ROOT / "analyzers/kprof_analyzers/whole_step/efficiency.toml"
PAGE = ROOT / "docs/validation/operators.md"
_LARGEST = 5


def toml(found: Fits, rows: Sequence[Row]) -> str:
    """Return the text of the efficiency file."""
    lines = [
        "# What torch's own operators reach of the published peaks. Written by validation/fit_operators.py,",
        "not by hand:",
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
        lines += [f"{name} = {value:g}" for name in ("filled", "columns", "depth_ns") if (value := getattr(one, name))]
        lines += [f"low = {one.low:.2f}", f"high = {one.high:.2f}", f"rows = {one.rows}"]
        lines.append(f"gpus = {list(one.gpus)}".replace("'", '"'))
    # Keep the part that validation/fit_types.py wrote.
    kept = FILE.read_text(encoding="utf-8").partition(MARK)
    return "\n".join([*lines, "", *filter(None, kept[1:])]).rstrip() + "\n"


def page(rows: Sequence[Row]) -> str:
    """Return the page: how well a fit to the other sources predicts each source."""
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
    """Return the number of traces whose predicted sum is within 25 % of the measured one."""
    traces = sorted({row.source for row in rows if not row.source.endswith(".csv")})
    sums = {one: _sum_ratio([row for row in rows if row.source == one], fits[one]) for one in traces}
    near = sum(1 / _NEAR <= ratio <= _NEAR for ratio in sums.values())
    return [f"The sum is within 25 % for {near} of {len(sums)} traces."]


_NEAR = 1.25


def _sum_ratio(rows: Sequence[Row], fit: Fits) -> float:
    known = [row for row in rows if ("", row.kind) in fit]
    return sum(_predicted(row, fit) * row.calls for row in known) / sum(row.measured * row.calls for row in known)


def _alone(rows: Sequence[Row]) -> list[str]:
    """Fit without a source and the sources that share parts of its model, for each such source."""
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
The share of products, convolutions and attention falls where there are fewer tiles than compute units, that of batch
norms and other norms where there are fewer channels or rows, that of convolutions also with their channels. Where few
rows say what share a kind reaches, it is held near that of a kind it is like: convolutions and attention near
products, batch norms near norms, a softmax near element-wise operators. How near was chosen with these traces in
view, so that the count of sums within 25 % flatters: without it and without channels and rows it was 8 of 12.

A range holds nine of ten of what was left out of a fit to the other sources. A kind that one source alone has gets the
widest range of all kinds.

Each source below is predicted by a fit to the others. A ratio is predicted over measured. "Sum" is that ratio of all
calls together, "of the ten longest" counts operators that are so by both, and "largest kinds" the five largest by
time that have the same place by both.

Traces (`.json.gz`) are of an MI300X: those of `AMD-AGI/TraceLens` at 171dd74721, and older ones of it. Three of them,
`xdit_*`, are of picture generators that share their text encoders and their decoder of pictures: all three are left
out together, and judged a second time alone. The tables (`.csv`) are those of AITER's repository, commit e4048607a5,
with the products for which torch's own operator was the fastest of all that were tried there: they flatter it. They
name the architecture and its CUs: gfx950 with 256 is taken to be an MI355X, gfx942 with 80 an MI308X.

For products in 16 bits on an MI355X this fit is not used. `validation/fit_types.py` fits one to the same tables and to
programs that are one product, with the product's depth: of sizes left out 96 % of products and 67 % of thin products
are within 25 %, of a program left out 100 % of 4 and 95 % of 39.
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
    return time_of(row, fit_of(row, fit))


def _holds(row: Row, fit: Fits) -> bool:
    one, us = fit_of(row, fit), _predicted(row, fit)
    return one.low * us <= row.measured <= one.high * us


def main() -> None:
    """Fit and print, and write the files if requested."""
    parser = argparse.ArgumentParser()
    parser.add_argument("traces", nargs="+", metavar="TRACE[,TRACE]")
    parser.add_argument("--tuned", nargs="*", type=Path, default=[], help="AITER's tuned tables")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = [row for word in asked.traces for path in word.split(",") for row in rows_of(Path(path), word)]
    # Count a size that several tables contain once.
    tuned = {(row.gpu, row.shapes): row for path in sorted(asked.tuned) for row in rows_of_table(path)}
    rows += tuned.values()
    figures, text = toml(fitted(rows), rows), page(rows)
    print(figures, text, sep="\n")
    if asked.write:
        FILE.write_text(figures, encoding="utf-8")
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
