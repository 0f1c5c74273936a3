"""The page's first tables: one line per family, and each figure next to those of simple baselines and of an oracle."""

from collections.abc import Mapping, Sequence
from typing import Any

from validation.benchmarks.model.layout import aligned, cell, markdown
from validation.benchmarks.model.problem import Family

_MODEL = {
    "order": {"Spearman": "clean_spearman", "top-1": "clean_top1", "top-3": "clean_top3", "pairs": "clean_pairs",
              "ratio": "clean_ratio"},
    "winner": {"top-1": "recall_top1", "top-3": "recall_top3"},
    "pair": {"Spearman": "gain_spearman", "sign": "sign_right", "ratio": "ratio_median"},
    "time": {"Spearman": "spearman", "ratio": "ratio_median"},
    "tile": {"Spearman": "spearman", "ratio": "ratio_median"},
}  # fmt: skip
"""Map a question to the columns of the first table with the figures of a family's summary."""
_COLUMNS = ("Spearman", "top-1", "top-3", "pairs", "sign", "ratio")

_OTHERS = ("model", "random", "common", "resources", "roofline", "Origami", "closed form", "oracle")
_EVEN = 0.5
"""How often a random choice orders two configurations as measured."""
_FIRST = 0.05
_BESIDE: Mapping[str, Sequence[tuple[str, Mapping[str, str | float]]]] = {
    "order": [
        ("Spearman", {"model": "raw_spearman", "random": 0.0, "resources": "raw_resource_spearman",
                      "Origami": "raw_spearman", "oracle": "raw_oracle_spearman"}),
        ("top-1", {"model": "raw_top1", "random": "raw_random_top1", "common": "raw_common_top1",
                   "resources": "raw_resource_top1", "Origami": "raw_top1", "oracle": 1.0}),
        ("top-3", {"model": "raw_top3", "random": "raw_random_top3", "resources": "raw_resource_top3",
                   "Origami": "raw_top3", "oracle": 1.0}),
        ("pairs", {"model": "raw_pairs", "random": _EVEN, "resources": "raw_resource_pairs", "Origami": "raw_pairs"}),
        ("median ratio", {"model": "raw_ratio", "Origami": "raw_ratio", "oracle": 1.0}),
    ],
    "winner": [
        (f"winner among the first {n}", {"model": f"recall_top{n}", "random": f"random_top{n}",
                                         "common": f"common_top{n}", "resources": f"resource_top{n}", "oracle": 1.0})
        for n in (1, 3, 5)
    ] + [("winner in the first 5 %", {"model": "top5_percent", "random": _FIRST, "Origami": "top5_percent",
                                      "oracle": 1.0})],
    "pair": [
        ("sign right", {"model": "sign_right", "random": _EVEN, "common": "always_faster_right",
                        "resources": "resource_sign_right", "Origami": "sign_right", "oracle": 1.0}),
        ("gains' Spearman", {"model": "gain_spearman", "random": 0.0, "resources": "resource_gain_spearman",
                             "Origami": "gain_spearman", "oracle": 1.0}),
    ],
    "time": [
        ("Spearman", {"model": "spearman", "random": 0.0, "resources": "resource_spearman",
                      "roofline": "roofline_spearman", "Origami": "spearman", "oracle": 1.0}),
        ("median ratio", {"model": "ratio_median", "Origami": "ratio_median", "oracle": 1.0}),
    ],
}  # fmt: skip
_BESIDE = {
    **_BESIDE,
    "tile": [
        *_BESIDE["time"],
        ("matrix share, points off", {"model": "matrix_share_off_by_points", "closed form": "closed_form_off_by_points",
                                      "oracle": 0.0}),
    ],
    "loop": [("cycles off", {"model": "cycles_off", "oracle": 0.0})],
    "validity": [("launches or not", {"model": "launch_right", "common": "always_the_same_right", "oracle": 1.0})],
}  # fmt: skip

TEXT = """\
*Spearman*: within a table, on average (clean rows); of single times over all of them; of pairs that of the gains.
*top-1* and *top-3*: of timed tables the speed of the model's first choice and of the best of its first three; of
published winners how often they are the first, or among the first three. *sign*: of the gains of pairs. *ratio*:
predicted over measured, median. *in range*: published times in the predicted range. A dash: what a family's data
cannot tell."""
BESIDE = """\
The same figures of others, over all rows (`raw`). *random*: lots. *common*: the configuration that wins most of the
other problems; of pairs who always says faster; of launches who always says the more common. *resources*: whole
tiles at the matrix peak, bytes at the bandwidths. *roofline*: the least time of a problem, which cannot order its
configurations. *Origami*: AMD's analytical model, over the problems that it takes (of the last run with
`--origami`), see [its page](origami.md). *closed form*: AMD's, of loops that spread their loads evenly. *oracle*:
knows the shortest time of each machine code."""


def lines(
    chosen: Sequence[Family], summaries: Mapping[str, Mapping[str, Any]], coverage: Mapping[str, float]
) -> tuple[list[str], list[list[str]]]:
    """Return header and lines of the first table.

    Args:
        chosen: families.
        summaries: summary of each family.
        coverage: share of each family's times that are in their ranges, by the family's title.
    """
    found = []
    for family in chosen:
        known = summaries[family.name]
        if family.question not in _MODEL or not known.get("problems"):
            continue
        keys = _MODEL[family.question]
        inside = coverage.get(family.title, known.get("in_range"))
        cells = [cell(known.get(keys[column]) if column in keys else None, "{:.2f}") for column in _COLUMNS]
        found.append([family.title, str(known["problems"]), *cells, cell(inside, "{:.0%}")])
    return ["family", "problems", *_COLUMNS, "in range"], found


def beside(
    chosen: Sequence[Family], summaries: Mapping[str, Mapping[str, Any]], origami: Mapping[str, Mapping[str, Any]]
) -> tuple[list[str], list[list[str]]]:
    """Return header and lines of the second table: one figure per family.

    Args:
        chosen: families.
        summaries: summary of each family.
        origami: Origami's figures of the families that it supports.
    """
    found = []
    for family in chosen:
        known = summaries[family.name]
        name = family.title
        for figure, keys in _BESIDE.get(family.question, ()) if known.get("problems") else ():
            values = [_value(keys.get(one), origami.get(family.name, {}) if one == "Origami" else known)
                      for one in _OTHERS]  # fmt: skip
            if values[0] is not None:
                found.append([name, figure, *(cell(value, "{:.2f}") for value in values)])
                name = ""
    return ["family", "figure", *_OTHERS], found


def _value(key: str | float | None, known: Mapping[str, Any]) -> float | None:
    return known.get(key) if isinstance(key, str) else key


def section(
    chosen: Sequence[Family],
    summaries: Mapping[str, Mapping[str, Any]],
    coverage: Mapping[str, float],
    origami: Mapping[str, Mapping[str, Any]],
) -> list[str]:
    """Return the page's section with both tables."""
    first, second = lines(chosen, summaries, coverage), beside(chosen, summaries, origami)
    return ["## Family by family", "", TEXT, "", *markdown(*first), "", BESIDE, "", *markdown(*second), ""]


def show(
    chosen: Sequence[Family],
    summaries: Mapping[str, Mapping[str, Any]],
    coverage: Mapping[str, float],
    origami: Mapping[str, Mapping[str, Any]],
) -> None:
    """Print both tables."""
    print("\nFamily by family")
    print("\n".join(aligned(*lines(chosen, summaries, coverage))))
    print("\nBeside others")
    print("\n".join(aligned(*beside(chosen, summaries, origami))), flush=True)
