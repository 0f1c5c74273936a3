"""Sentences about certainty in docs and code, derived from the page's numbers; a test finds sentences that differ.

``python -m validation.benchmarks.model --write`` writes the numbers (``docs/validation/model.json``), and this module
the sentences. ``certainty.toml``, the certainty that kprof states when it compares two predictions, comes from the same
numbers.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from kprof_analyzers.model.certainty import ENOUGH, least_difference
from validation.benchmarks.model import timings
from validation.benchmarks.model.orders import left_out, steps
from validation.benchmarks.model.ranges import FEW

AIM = 0.9
"""Share of the times that a range should contain."""


FILE = Path(__file__).parents[3] / "analyzers/kprof_analyzers/model/certainty.toml"
_HEAD = """\
# Share of published configuration pairs that was measured in the predicted order. A step contains the pairs whose
# predicted times differ by "least", up to the next step. Every family of kernels has the same weight. Adjacent bins of
# the page form one step where a larger difference was not more certain.
# Written by python -m validation.benchmarks.model --ranges COMMIT."""


def write(bins: Sequence[Mapping[str, Any]], commit: str) -> None:
    """Update ``certainty.toml`` from the families' bins of the page."""
    lines = [_HEAD, f'commit = "{commit}"']
    for least, share, count in steps(bins):
        lines += ["", "[[steps]]", f"least = {least:g}", f"right = {share:.3f}", f"pairs = {count}"]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def sentences(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """Map a file to the sentences that it must contain, ignoring line breaks.

    Args:
        data: ``model.json``.
    """
    coverage, orders = data["sureness"]["coverage"], data["sureness"]["orders"]
    inside = _percent(fmean(one["covered"] for one in coverage))
    apart = [one for one in coverage if one["left_out"] is not None]
    others = _percent(fmean(one["left_out"] for one in apart))
    worst = _percent(min(one["left_out"] for one in apart))
    few = timings.sentence(data["sureness"]["timings"])
    gains = timings.gains(data["sureness"]["timings"])
    (_, near, _), *farther = steps(orders)
    shares = ", ".join(f"{_percent(share)} from {_percent(least)}" for least, share, _ in farther)
    alone = [one for one in left_out(orders, ENOUGH) if one["told"] >= FEW]
    judged = ", ".join(f"{one['family']} {_percent(one['right'])}" for one in alone)
    return {
        "docs/model.md": [
            f"of the nearest {_percent(near)} are ordered as measured; {shares} apart on.",
            f"Of the pairs that the other families' shares call different, as measured: {judged}.",
            f"On average over kinds of kernels {inside} of the published times lie there;",
            f"of a kind that the ranges are not fitted on {others}, in the worst case {worst}.",
            f"Half of these times have a range of {data['sureness']['width']:.1f} or less from lower to upper end.",
            _retunes(data["retunes"]["summary"]),
        ],
        "docs/tune.md": [f"on the published 12,288 sweep of tritonBLAS {few}.", gains],
        "kprof/tuning/residuals.py": [f"{few}.", gains],
        "validation/benchmarks/model/failures.md": [_narrow(apart)],
        "docs/validation/model.md": [_narrow(apart)],
        "kprof/document.py": [f"where {inside} of published times do"],
    }


def factors(sorts: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Map a file to the sentences about the ranges, with the numbers of ``ranges.toml``.

    Args:
        sorts: kinds of ranges in the file.
    """
    low_high = {sort: f"{one['low']:g} to {one['high']:g}" for sort, one in sorts.items()}
    return {
        "docs/model.md": [
            f"{low_high['usual']} of the prediction;",
            f"a fifth or more of it is waiting for memory's answers and at barriers {low_high['latency']};",
            f"is waiting for spilled registers {low_high['scratch']};",
            f"(gfx1250, RDNA) {low_high['foreign']}, a note saying so;",
            f"iterations of a loop are not known {low_high['unknown']}.",
        ]
    }


def threshold() -> dict[str, str]:
    """Map a file to the sentence with the difference from which two predictions count as different."""
    least = _percent(least_difference())
    return {
        "docs/model.md": f"called different from a certainty of {_percent(ENOUGH)} on, which is {least} apart",
        "docs/tune.md": f"predicted less than {least} apart",
    }


def _retunes(found: Mapping[str, Any]) -> str:
    """Return the published gains of configuration changes next to the predicted ones."""
    sign, near, inside = (_percent(found[key]) for key in ("sign_right", "within_1.25", "in_range"))
    return (
        f"Of {found['gains_beyond_noise']} published retunes whose times differ the model says for {sign} rightly "
        f"whether it got faster, and {near} of all gains are met within a factor of 1.25; {inside} of their times lie "
        "in the ranges."
    )


def _narrow(apart: Sequence[Mapping[str, Any]]) -> str:
    """Return the families whose times are not in the ranges fitted on the others."""
    below = [one for one in apart if round(one["left_out"], 2) < AIM]
    named = "; ".join(f"{one['family']} ({_percent(one['left_out'])})" for one in below)
    return (
        f"Of {len(apart)} families {len(below)} have less than {_percent(AIM)} of their times in ranges that are "
        f"fitted on the others: {named or 'none'}."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
