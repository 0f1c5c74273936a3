"""The report's section about ranges and ties."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kprof_analyzers.model.certainty import ENOUGH
from validation.benchmarks.model import orders, ranges, timings
from validation.benchmarks.model.evaluate import Judged
from validation.benchmarks.model.layout import aligned, markdown
from validation.benchmarks.model.problem import Family


def figures(chosen: Sequence[Family], results: Mapping[str, Sequence[Judged]]) -> dict[str, Any]:
    """Return the model's certainty, computed by :mod:`validation.benchmarks.model.ranges`."""
    return {
        "coverage": ranges.coverage(chosen, results),
        "width": ranges.width(chosen, results),
        "sorts": ranges.sorts(chosen, results),
        "pairs": ranges.pairs(chosen, results),
        "orders": orders.by_family(chosen, results),
        "timings": timings.figures(chosen, results),
    }


def covered(found: Mapping[str, Any]) -> dict[str, float]:
    """Map a family's title to the share of its times that are in their ranges."""
    return {one["family"]: one["covered"] for one in found.get("coverage", ()) if one["covered"] is not None}


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _tables(found: Mapping[str, Any]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Return title, header and lines of the tables."""
    header = ["family", "times", "another code's", "fitted on", "in range", "as published", "left out", "high / low"]
    lines = [
        [one["family"], str(one["times"]), str(one["another_code"] or "-"), str(one["fitted"]),
         *(_share(one[key]) for key in ("covered", "as_published", "left_out")), f"{one['width']:.1f}"]
        for one in found["coverage"]
    ]  # fmt: skip
    yield "Published times in the predicted range", header, lines
    header = ["range", "times", "low", "high", "all times ask for"]
    lines = [
        [one["sort"], str(one["times"]), f"{one['low']:.2f}", f"{one['high']:.2f}",
         "-" if one["asked"] is None else f"{one['asked'][0]:.2f} to {one['asked'][1]:.2f}"]
        for one in found["sorts"]
    ]  # fmt: skip
    yield "Ranges, as factors of the predicted time", header, lines
    header = ["predictions differ by", "pairs", "ordered as measured", "of those that differ", "measured median"]
    lines = [
        [_between(one["least"], one["most"]), str(one["pairs"]), _share(one["right"]), _share(one["clear"]),
         f"{one['gain']:+.1%}"]
        for one in found["pairs"]
    ]  # fmt: skip
    yield "Pairs of configurations", header, lines

    yield from _certainty(found["orders"])
    header = ["left to the GPU: closer than", "pairs that the model answers", "of these ordered as measured"]
    answered = [
        [f"{least:.0%}" if least else "none", _share(kept), _share(right)]
        for least, kept, right in risk(found["pairs"])
    ]
    yield "What the model answers, and what it leaves to the GPU", header, answered
    yield timings.table(found["timings"])


def _certainty(bins: orders.Bins) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Return the content of ``certainty.toml``, and each family's result with the values of the others."""
    found = orders.steps(bins)
    lines = [[f"{least:.0%}", str(pairs), _share(right)] for least, right, pairs in found]
    yield "Certainty that the one said to be faster is", ["predictions differ by at least", "pairs", "certainty"], lines
    header = ["family", "pairs", "told apart from, by the others", "pairs told apart", "of these as measured"]
    lines = [
        [one["family"], str(one["pairs"]), _share(one["from"]), str(one["told"]), _share(one["right"])]
        for one in orders.left_out(bins, ENOUGH)
    ]
    yield f"Pairs called different at a certainty of {ENOUGH:.0%}, each family left out", header, lines


def risk(pairs: Sequence[Mapping[str, Any]]) -> list[tuple[float, float, float]]:
    """Return risk against coverage: what is gained by leaving near pairs to the GPU.

    Args:
        pairs: bins by the difference of predictions.

    Returns:
        Minimum answered difference, share of all pairs with at least this difference, share of these ordered
            correctly.
    """
    whole = sum(one["pairs"] for one in pairs)
    found = []
    for least in sorted(one["least"] for one in pairs):
        kept = [one for one in pairs if one["least"] >= least]
        count = sum(one["pairs"] for one in kept)
        found.append((least, count / whole, sum(one["right"] * one["pairs"] for one in kept) / count))
    return found


def _between(least: float, most: float | None) -> str:
    return f"over {least:.0%}" if most is None else f"{least:.0%} to {most:.0%}"


def show(found: Mapping[str, Any]) -> None:
    """Print the tables."""
    for title, header, lines in _tables(found):
        if lines:
            print(f"\n{title}")
            print("\n".join(aligned(header, lines)))


_SURENESS = """\
*in range*: the published time without what the way of timing adds (10 to 20 us of `do_bench`, up to 110 us where
Python's launch and a synchronisation are in the time) lies between `low_us` and `high_us`. *as published*: the
published time itself does. *another code's*: published times, not among the others, that are below what the
instructions of the code that is predicted take with every load a hit (see *What our compile can do at all*): they
say nothing about its prediction. *left out*: in ranges that were fitted on the other families only. *fitted on*:
times of which the way of timing leaves a fifth open at most (nearly any range holds the others), and none of families
in which another kernel stands in for the timed one, or the host's work is in the time. Times of published winners under
5 us are left out.

Two configurations of a problem with different machine code: how often the one that is said to be faster was (all, and
those whose times differ by more than 3 %), and by how much the median. *certainty* is the same share with every family
weighing alike, retunes among them, which `advise`, `tune`, `check` and `diff` state of a proposal
(`certainty.toml`); below 75 % they call two predictions a tie. Families are ordered unequally well: the tables of the
MI210 have the ten best configurations only.

*Corrected by a few timings*: what `tune --measured` and `--verify` do, simulated. Timings are drawn by lot, twenty
times; *the others* are what was not drawn. *by those that tell most*: what `times.csv` of `tune -o` asks for is timed
instead. Sweeps are of one problem; of families with a configuration or two of many problems those of a kernel on a GPU
are taken together, two hundred at most. *best / chosen*: the model's first choices are timed instead, the others
corrected by them, and the fastest is taken; its time against the shortest of the sweep.
"""


def section(found: Mapping[str, Any]) -> list[str]:
    """Return the page's section about ranges and ties."""
    if not found:
        return []
    parts = ["## How sure it is", "", _SURENESS]
    for title, header, lines in _tables(found):
        if lines:
            parts += [f"**{title}**", "", *markdown(header, lines), ""]
    return parts
