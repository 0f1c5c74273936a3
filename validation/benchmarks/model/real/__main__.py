"""Measure the stand-ins' error on a sample: ``python -m validation.benchmarks.model.real --packages FOLDER...``.

A few problems of each family whose kernel a package has, a few configurations of each, predicted from the real
kernel and from the stand-in. The figures are stored in ``docs/validation/model_real.json``, and the page always
shows them; figures of a family that runs again are replaced. With ``--packages`` for the whole page, every
configuration is predicted from both kernels, which compiles for hours.
"""

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

from kprof.errors import KprofError  # noqa: E402
from validation.benchmarks.model import report, run, tritons  # noqa: E402  # the path comes first
from validation.benchmarks.model.compiling import Facts  # noqa: E402
from validation.benchmarks.model.data import load  # noqa: E402
from validation.benchmarks.model.evaluate import Model, judge  # noqa: E402
from validation.benchmarks.model.problem import Family, Problem  # noqa: E402
from validation.benchmarks.model.real import error  # noqa: E402
from validation.benchmarks.model.real.kernels import RealKernels  # noqa: E402
from validation.benchmarks.model.real.packages import packages  # noqa: E402


def sampled(family: Family, problems: list[Problem], most: int, configurations: int) -> tuple[Family, list[Problem]]:
    """Return a sample of a family's problems, and the family with a sample of configurations; equal at every call.

    Args:
        family: the family to compare.
        problems: all problems of the family.
        most: maximum number of problems.
        configurations: number of configurations of a problem besides the winner.
    """
    kept = {id(one) for one in Random(family.name).sample(problems, min(most, len(problems)))}
    few = [one for one in problems if id(one) in kept]
    drawn = configurations if family.drawn is None else min(family.drawn, configurations)
    return replace(family, drawn=drawn), few


def main() -> None:
    """Compare, print and store the figures."""
    options = _options()
    os.environ.setdefault("KPROF_CACHE_SIZE", str(8 << 30))
    try:
        real = RealKernels(packages(options.packages))
    except KprofError as problem:
        raise SystemExit(f"--packages {problem}") from None
    rows = load(options.data)
    known = {family.name: family for family in run.families(tritons.Releases())}
    chosen = [one for one in known.values() if any(name in real.packages for name in one.packages)]
    names = options.only.split(",") if options.only else [one.name for one in chosen]
    if unknown := [name for name in names if name not in {one.name for one in chosen}]:
        raise SystemExit(f"no package with the kernel of {', '.join(unknown)}")
    for name in names:
        print(f"{name}: {_compare(known[name], rows, real, options)}", flush=True)
    _write_page(list(known.values()))


def _write_page(families: list[Family]) -> None:
    page, kept = run.PAGES / "model.md", run.PAGES / error.NAME
    if page.is_file() and kept.is_file():
        found = json.loads(kept.read_text(encoding="utf-8"))
        titles = [(one.name, one.title) for one in families]
        text = error.placed(page.read_text(encoding="utf-8"), found, titles, report.AFTER)
        page.write_text(text, encoding="utf-8")


def _compare(family: Family, rows: Any, real: RealKernels, options: argparse.Namespace) -> str:
    """Compute and store one family's figures; return them in words."""
    every = family.problems(rows, False)
    few, problems = sampled(family, every, options.problems, options.configurations)
    if not problems:
        return "no rows"
    model = Model(Facts(options.jobs, options.timeout))
    _, told = error.settle(real, model, few, judge(model, few, real.swapped(few, problems)))
    if "error" not in told:
        return error.words(told) or "no package has its kernel"
    told |= {"triton": tritons.version(), "sample": [len(problems), len(every)]}
    path = run.PAGES / error.NAME
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(json.dumps(dict(sorted({**kept, family.name: told}.items())), indent=1) + "\n", encoding="utf-8")
    error.show(family.name, told)
    return f"{model.facts.compiled} compiled, {len(model.facts.failures)} failed"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", nargs="+", required=True, metavar="FOLDER", help="that have the measured kernels")
    parser.add_argument("--data", default=str(run.DATA), help="folder with configs.csv.gz")
    parser.add_argument("--only", help="families, with commas between them")
    parser.add_argument("--problems", type=int, default=8, help="problems drawn of a family")
    parser.add_argument("--configurations", type=int, default=12, help="configurations drawn of a problem")
    parser.add_argument("--jobs", type=int, default=1, help="processes that compile")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one compile")
    return parser.parse_args()


if __name__ == "__main__":
    main()
