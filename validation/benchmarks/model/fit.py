"""Find the values of the model's fitted constants that fit the measurements best, with each problem held out in turn.

::

    python -m validation.benchmarks.model.fit --arch gfx942 --only tritonblas --grid matrix_sustained=0.5,0.55,0.6
    --data FOLDER

The constants live in ``kprof/hardware/*.toml`` under ``[model]``, marked with what they were fitted on. This program
does not change them. It tries every combination of the grid. For each problem it prints the combination that is best
on the *other* problems, and its result on this problem. If that result differs much from the result with all
problems, the constant describes one problem and not the hardware.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

from validation.benchmarks.model import metrics  # noqa: E402  # the path comes first
from validation.benchmarks.model.compiling import Facts  # noqa: E402
from validation.benchmarks.model.data import load  # noqa: E402
from validation.benchmarks.model.evaluate import Judged, Model, judge  # noqa: E402
from validation.benchmarks.model.layout import markdown  # noqa: E402
from validation.benchmarks.model.run import DATA, families  # noqa: E402

Constants = Mapping[str, float]


def score(judged: Judged) -> float:
    """Return the objective: the order of the configurations, and with a tenth of the weight, a median ratio near 1."""
    figures = judged.figures["clean"]
    off = abs(figures["ratio"][1] - 1)
    return float((figures["spearman"] or 0.0) + figures["top1"] - 0.1 * off)


def grid_of(texts: Sequence[str]) -> list[dict[str, float]]:
    """Return every combination of ``name=value,value``."""
    split = [text.partition("=") for text in texts]
    axes = [(name, [float(value) for value in values.split(",")]) for name, _, values in split]
    names = [name for name, _ in axes]
    return [dict(zip(names, values, strict=True)) for values in product(*(values for _, values in axes))]


def left_out(scores: Sequence[Mapping[str, float]]) -> dict[str, int]:
    """Return for each problem the combination that is best on the others."""
    problems = list(scores[0])
    chosen = {}
    for problem in problems:
        others = [fmean([value for name, value in one.items() if name != problem] or [0.0]) for one in scores]
        chosen[problem] = max(range(len(scores)), key=others.__getitem__)
    return chosen


def main() -> None:
    """Try the grid and print both tables."""
    options = _options()
    rows = load(options.data)
    chosen = [family for family in families() if family.name in options.only.split(",")]
    facts = Facts(options.jobs)
    combinations = grid_of(options.grid)
    results: list[dict[str, dict[str, Any]]] = []
    for constants in combinations:
        model = Model(facts, constants={options.arch: constants})
        found = {}
        for family in chosen:
            for judged in judge(model, family, family.problems(rows, options.quick)):
                if judged.figures and judged.figures["clean"]["n"] >= options.least:
                    found[judged.problem.name] = {**judged.figures["clean"], "score": score(judged)}
        results.append(found)
        print(f"{_words(constants)}: {_line(found.values())}", flush=True)
    scores = [{name: figures["score"] for name, figures in found.items()} for found in results]
    best = max(range(len(scores)), key=lambda i: fmean(scores[i].values()))
    print(f"\nbest on all: {_words(combinations[best])}: {_line(results[best].values())}")
    away = left_out(scores)
    for name, place in away.items():
        print(f"  without {name}: {_words(combinations[place])}; on it {_line([results[place][name]])}")
    apart = [results[place][name] for name, place in away.items()]
    print(f"left out in turn: {_line(apart)}")
    if options.markdown:
        print("\n" + "\n".join(table(combinations, results, apart)))


def table(combinations: Sequence[Constants], results: Sequence[Mapping[str, Any]], apart: Sequence[Any]) -> list[str]:
    """Return the tried combinations as Markdown, for docs/validation."""
    lines = [
        [*(f"{value:g}" for value in constants.values()), *_cells(list(found.values()))]
        for constants, found in zip(combinations, results, strict=True)
    ]
    lines.append(["each problem left out in turn", *[""] * (len(combinations[0]) - 1), *_cells(apart)])
    return markdown([*combinations[0], "Spearman", "top-1", "median ratio"], lines)


def _cells(figures: Sequence[Any]) -> list[str]:
    spearman, top = (fmean(one[key] or 0.0 for one in figures) for key in ("spearman", "top1"))
    ratio = metrics.quantile([one["ratio"][1] for one in figures], 0.5)
    return [f"{spearman:.3f}", f"{top:.3f}", f"{ratio:.2f}"]


def _words(constants: Constants) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in constants.items())


def _line(figures: Any) -> str:
    listed = list(figures)
    spearman = fmean(one["spearman"] or 0.0 for one in listed)
    ratio = metrics.quantile([one["ratio"][1] for one in listed], 0.5)
    return f"Spearman {spearman:.3f}, top-1 {fmean(one['top1'] for one in listed):.3f}, median ratio {ratio:.2f}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(DATA), help="folder with configs.csv.gz")
    parser.add_argument("--only", default="tritonblas", help="families whose configurations are ordered")
    parser.add_argument("--arch", default="gfx942", help="whose constants")
    parser.add_argument("--grid", nargs="+", required=True, help="name=value,value ...")
    parser.add_argument("--least", type=int, default=6, help="problems with fewer configurations are left out")
    parser.add_argument("--quick", action="store_true", help="a part of each family")
    parser.add_argument("--markdown", action="store_true", help="the table once more, for docs/validation")
    parser.add_argument("--jobs", type=int, default=1, help="compiling processes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
