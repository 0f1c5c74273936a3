"""Replay published sweeps as an autotuner with kprof's prior (``--data FOLDER``).

Each sweep is a list of configurations of one problem with their published times. The prior ranks the list as
``kprof.rank_configs`` does, and the autotuner only times the first configurations. docs/validation/priors.md has the
number of timings, the loss (how much slower the fastest timed configuration is than the fastest of the list), and
the saved GPU seconds. ``--rows FILE`` stores the times, so that the page can be written again without compiling.
"""

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from math import comb
from pathlib import Path
from statistics import fmean
from typing import Any

from validation.benchmarks.model.compiling import Facts
from validation.benchmarks.model.data import load
from validation.benchmarks.model.evaluate import Model, points_of
from validation.benchmarks.model.run import DATA, PAGES, families

SWEEPS = ("tritonblas", "mm", "bmm", "conv", "tables", "gemm_sweeps")
"""Families whose problems are lists of timed configurations."""

TEXT = Path(__file__).with_name("priors_text.md")
"""The page up to the table, with places for the numbers."""

TOP_K = (8, 4, 3, 2, 1)
OWN = 4
"""Default number of timings of the priors for Inductor and Helion."""
CERTAINTY = 0.95
SMALL = 0.01
"""A loss up to this share does not count."""
FEW = 5
"""A list with fewer configurations does not count as a sweep."""
_WARM_UP_MS, _REPEAT_MS, _ESTIMATE = 25.0, 100.0, 6
"""Defaults of ``triton.testing.do_bench``: milliseconds of warming up and of repeating, and calls before both."""


def sweeps(data: str, jobs: int, timeout: float, only: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield each published sweep with measured and predicted times, without rows of doubtful times."""
    rows = load(data)
    facts = Facts(jobs, timeout)
    model = Model(facts)
    for family in families():
        if family.name not in only:
            continue
        problems = [one for one in family.problems(rows, False) if len(one.candidates) >= FEW]
        facts.prepare(points_of(problems))
        for problem in problems:
            scored, failed = model.score(problem)
            kept = [one for one in scored if one.candidate.time_us and not one.candidate.suspect]
            pairs = [{"measured_us": one.candidate.time_us, "predicted_us": one.us} for one in kept]
            named = {"family": family.title, "problem": problem.name, "product": problem.product}
            yield {**named, "failed": failed, "doubtful": len(scored) - len(kept), "rows": pairs}


def replay(rows: Sequence[Mapping[str, float]], top_k: int) -> dict[str, float]:
    """Return the number of timings, the loss against the best and the seconds of one sweep with the prior.

    ``lot`` is the mean loss of an equal number of random configurations.

    Args:
        rows: configurations with ``measured_us`` and ``predicted_us``.
        top_k: maximum number of configurations to time.
    """
    from kprof.tuning.ranking import leading

    order = sorted(range(len(rows)), key=lambda place: rows[place]["predicted_us"])
    enough = leading([rows[place]["predicted_us"] for place in order], CERTAINTY)
    timed = order[: max(1, min(top_k, enough))]
    best = min(row["measured_us"] for row in rows)
    found = min(rows[place]["measured_us"] for place in timed)
    seconds = [timing_seconds(row["measured_us"]) for row in rows]
    return {
        "candidates": len(rows),
        "timed": len(timed),
        "loss": found / best - 1,
        "lot": by_lot([row["measured_us"] for row in rows], len(timed)) / best - 1,
        "seconds": sum(seconds),
        "seconds_timed": sum(seconds[place] for place in timed),
    }


def by_lot(times: Sequence[float], count: int) -> float:
    """Return the mean of the minimum among ``count`` random times."""
    ordered, total = sorted(times), comb(len(times), count)
    return sum(time * comb(len(times) - 1 - place, count - 1) for place, time in enumerate(ordered)) / total


def timing_seconds(time_us: float) -> float:
    """Return the seconds for which ``triton.testing.do_bench`` occupies the GPU with one configuration."""
    time_ms = time_us / 1000
    calls = _ESTIMATE + max(1, int(_WARM_UP_MS / time_ms)) + max(1, int(_REPEAT_MS / time_ms))
    return calls * time_ms / 1000


def totals(each: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return timings, losses and seconds over several sweeps."""
    candidates, timed = sum(one["candidates"] for one in each), sum(one["timed"] for one in each)
    losses = [one["loss"] for one in each]
    return {
        "sweeps": len(each),
        "candidates": candidates,
        "timed": timed,
        "fewer": 1 - timed / candidates,
        "mean_loss": fmean(losses),
        "largest_loss": max(losses),
        "lot": fmean(one["lot"] for one in each),
        "within": sum(loss <= SMALL for loss in losses),
        "seconds": sum(one["seconds"] for one in each),
        "seconds_timed": sum(one["seconds_timed"] for one in each),
    }


def _share(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f} %"


def page(found: Sequence[Mapping[str, Any]]) -> str:
    """Return the page as Markdown."""
    rules = [(top_k, totals([replay(one["rows"], top_k) for one in found])) for top_k in TOP_K]
    own = dict(rules)[OWN]
    doubtful, failed = (sum(one[name] for one in found) for name in ("doubtful", "failed"))
    text = TEXT.read_text(encoding="utf-8").format(
        sweeps=len(found),
        candidates=own["candidates"],
        doubtful=doubtful,
        failed=failed,
        at_most=OWN,
        fewer=_share(own["fewer"]),
        mean_loss=_share(own["mean_loss"], 1),
        largest=_share(own["largest_loss"], 1),
        within=own["within"],
        small=_share(SMALL),
        certainty=_share(CERTAINTY),
    )
    for top_k, one in rules:
        text += (
            f"| {top_k} | {one['timed']} | {one['candidates']} | {_share(one['fewer'])} | "
            f"{_share(one['mean_loss'], 1)} | {_share(one['largest_loss'], 1)} | {_share(one['lot'], 1)} | "
            f"{one['within']} of {one['sweeps']} | "
            f"{one['seconds_timed']:.1f} | {one['seconds']:.1f} |\n"
        )
    text += f"\nWith at most {OWN}:\n\n| sweep | GPU | timed | of | loss | by lot |\n|---|---|---:|---:|---:|---:|\n"
    for one in found:
        mine = replay(one["rows"], OWN)
        text += (
            f"| {one['family']}: {one['problem']} | {one['product']} | {mine['timed']} | {mine['candidates']} | "
            f"{_share(mine['loss'], 1)} | {_share(mine['lot'], 1)} |\n"
        )
    return text


def main() -> None:
    """Replay and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(DATA), help="folder with configs.csv.gz")
    parser.add_argument("--only", default=",".join(SWEEPS), help="families, with commas between them")
    parser.add_argument("--jobs", type=int, default=1, help="compiling processes")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one compile")
    parser.add_argument("--rows", help="file that keeps the measured and predicted times; it is read if it exists")
    parser.add_argument("--write", action="store_true", help="write docs/validation/priors.md")
    options = parser.parse_args()
    os.environ.setdefault("KPROF_CACHE_SIZE", str(8 << 30))
    rows = Path(options.rows) if options.rows else None
    if rows is not None and rows.is_file():
        found = json.loads(rows.read_text(encoding="utf-8"))
    else:
        found = list(sweeps(options.data, options.jobs, options.timeout, options.only.split(",")))
        if rows is not None:
            rows.write_text(json.dumps(found), encoding="utf-8")
    text = page([one for one in found if len(one["rows"]) >= FEW])
    print(text)
    if options.write:
        (PAGES / "priors.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
