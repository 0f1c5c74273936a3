"""Compare the performance model with published measurements: ``python -m validation.benchmarks.model --data FOLDER``.

``--packages FOLDER...`` takes the measured kernels from installations or checkouts of vLLM, SGLang, AITER, PyTorch,
tritonBLAS and ROCm/triton; without it every kernel is a stand-in. ``FOLDER`` contains the measurements
(``configs.csv.gz``), which are not part of the project. Each row is compiled with the Triton that it names, in an
environment that kprof creates as for ``kprof diff``. Rows that name none are compiled with the usual release,
regardless of this Python's Triton. The first run downloads these releases and compiles for an hour; later runs use
kprof's cache.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

from validation.benchmarks.model import (  # noqa: E402  # the path comes first
    ablations,
    certainty,
    floor,
    origami,
    overview,
    ranges,
    report,
    sureness,
    tritons,
)
from validation.benchmarks.model.compiling import Facts  # noqa: E402
from validation.benchmarks.model.data import Rows, load  # noqa: E402
from validation.benchmarks.model.details import details  # noqa: E402
from validation.benchmarks.model.evaluate import Judged, Model, judge, points_of  # noqa: E402
from validation.benchmarks.model.problem import Family  # noqa: E402
from validation.benchmarks.model.real import error  # noqa: E402
from validation.benchmarks.model.real.kernels import RealKernels  # noqa: E402
from validation.benchmarks.model.real.packages import Package, packages  # noqa: E402
from validation.benchmarks.model.summary import summary  # noqa: E402

MODULES = ("tritonblas", "inductor", "gemms", "tables", "rocm_gemm", "vllm", "aiter_gemm", "state_update", "pairs")
MODULES += ("batched", "attention", "launchable", "later_times", "gluon", "gluon_cdna3")
PAGES = ROOT / "docs" / "validation"
DATA = ROOT.parent / "shared" / "groundtruth"


def families(releases: tritons.Releases | None = None) -> list[Family]:
    """Return all families in the order of the report; each launch is compiled with its assigned release."""
    found: list[Family] = []
    for name in MODULES:
        module = import_module(f"validation.benchmarks.model.families.{name}")
        found += getattr(module, "FAMILIES", ()) or (module.FAMILY,)
    return [(releases or tritons.Releases()).assign(family) for family in found]


def main() -> None:
    """Compile, predict, judge, print."""
    options = _options()
    # A complete run has more kernels than the cache keeps by default.
    os.environ.setdefault("KPROF_CACHE_SIZE", str(8 << 30))
    began = time.monotonic()
    rows = load(options.data)
    real = RealKernels(_packages(options.packages))
    releases = tritons.Releases(forced=options.triton)
    known = {family.name: real.family(family) for family in families(releases)}
    names = _names(options.only, known)
    facts = Facts(options.jobs, options.timeout)
    if options.compile_only:
        for name in names:
            facts.prepare(points_of(known[name].problems(rows, options.quick)))
            print(f"{name}: {facts.compiled} compiled in {facts.compile_seconds:.0f} s, {len(facts.failures)} failed")
        return
    model = Model(facts)
    chosen = [known[name] for name in names]
    results, versions, compared = _judged(model, releases, chosen, rows, real, quick=options.quick)
    names = [name for name in names if name in results]
    for refused in releases.told():
        print(f"\n{refused}")
    extra_rows = report.print_rows(rows, whole=not options.only)
    extra: dict[str, Any] = {"tritons": versions, "refused": releases.told(), "real": compared, "rows": extra_rows}
    extra["sureness"] = sureness.figures([known[name] for name in names], results)
    extra["goals"] = report.print_goals(results, extra["sureness"], model.seconds)
    sureness.show(extra["sureness"])
    chosen = [known[name] for name in names]
    extra["origami"] = origami.shown(chosen, results, options.origami, PAGES, write=options.write)
    figures = {name: summary(results[name]) for name in names}
    overview.show(chosen, figures, sureness.covered(extra["sureness"]), extra["origami"])
    extra["floor"] = floor.figures(facts, [known[name] for name in names], results)
    floor.show(extra["floor"])
    extra["cost"] = report.print_cost(model, facts, time.monotonic() - began)
    # The page always needs them: from a file, or computed now.
    wanted = options.ablations or (options.write and not options.ablations_file)
    if wanted:
        extra["ablations"] = ablations.figures(facts, chosen, rows, quick=options.quick, jobs=options.jobs)
        ablations.show(extra["ablations"])
    if options.details:
        Path(options.details).write_text(json.dumps(details(results), indent=1), encoding="utf-8")
    if options.ablations_file and not wanted:
        extra["ablations"] = json.loads(Path(options.ablations_file).read_text(encoding="utf-8"))
    elif options.ablations_file:
        Path(options.ablations_file).write_text(json.dumps(extra["ablations"], indent=1), encoding="utf-8")
    if options.keep:
        tritons.keep(PAGES, figures, options.triton)
    if options.ranges:
        ranges.write([known[name] for name in names], results, options.ranges)
        if not options.only:
            certainty.write(extra["sureness"]["orders"], options.ranges)
    if options.update:
        report.update(
            PAGES, [known[name] for name in names], results, options.update, {**extra, "families": [*known.values()]}
        )
    if options.write:
        report.write(PAGES, [known[name] for name in names], results, extra)


def _names(only: str | None, known: Mapping[str, Family]) -> list[str]:
    names = only.split(",") if only else list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no such family: {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def _packages(folders: Sequence[str]) -> dict[str, Package]:
    from kprof.errors import KprofError

    try:
        return packages(folders)
    except KprofError as problem:
        raise SystemExit(f"--packages {problem}") from None


def _judged(
    model: Model, releases: tritons.Releases, chosen: Sequence[Family], rows: Rows, real: RealKernels, *, quick: bool
) -> tuple[dict[str, list[Judged]], dict[str, list[dict[str, Any]]], dict[str, dict[str, Any]]]:
    """Yield families with problems: their results, the Triton releases in their rows, and stand-in errors."""
    results, versions, compared = {}, {}, {}
    for family in chosen:
        problems = family.problems(rows, quick)
        if not problems:
            continue
        versions[family.name] = releases.matches(problems)
        results[family.name] = judge(model, family, problems)
        if family.name in real.used:
            results[family.name], compared[family.name] = error.settle(real, model, family, results[family.name])
        report.print_family(family, results[family.name])
        if family.name in compared:
            error.show(family.name, compared[family.name])
    return results, versions, compared


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(DATA), help="folder with configs.csv.gz")
    parser.add_argument(
        "--packages", nargs="+", default=(), metavar="FOLDER", help="that have the measured kernels: see the page"
    )
    parser.add_argument("--origami", metavar="FOLDER", help="that has rocm-origami installed: its figures beside ours")
    parser.add_argument("--only", help="families, with commas between them")
    parser.add_argument("--quick", action="store_true", help="a part of each family")
    parser.add_argument("--jobs", type=int, default=1, help="processes that compile, and predict for --ablations")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one compile")
    parser.add_argument("--ablations", action="store_true", help="also with each effect switched off")
    parser.add_argument("--ablations-file", help="where --ablations writes its table, and --write reads it without")
    parser.add_argument("--compile-only", action="store_true", help="fill the cache and stop")
    parser.add_argument("--details", help="file for every prediction, as JSON")
    parser.add_argument("--triton", default="", help="compile all rows with this release (3.9.0), whatever they name")
    parser.add_argument("--keep", action="store_true", help="add the figures of --triton to those that --write shows")
    parser.add_argument("--write", action="store_true", help="write docs/validation/model.md, .json and .svg")
    parser.add_argument("--update", metavar="COMMIT", help="write the families' sections only, with the commit")
    parser.add_argument("--ranges", metavar="COMMIT", help="fit the ranges anew and write them, with the commit")
    options = parser.parse_args()
    if options.keep and not options.triton:
        parser.error("--keep keeps the figures of the one release that --triton names")
    return options


if __name__ == "__main__":
    main()
