"""Before and after: the same problem with the configuration in use and with the one that a retune found."""

from collections.abc import Sequence
from typing import Any

from validation.benchmarks.model.data import Row, UnusableError, each, skip
from validation.benchmarks.model.families.aiter_gemm import KINDS, Product, config_of
from validation.benchmarks.model.problem import Candidate, Family, Problem

BEFORE, AFTER = "baseline_clean", "validate_final4"
"""Passes of AITER's retune: the previous configuration, and the one that was kept."""
AGAIN = "baseline_triton34"
"""The first pass repeated, with the same configuration according to the published data."""
APART = 1.25
"""Times that differ by more than this factor are not of the same configuration."""
_KERNELS = {"_gemm_a8w8_blockscale_kernel": "A8W8_BLOCKSCALE"}
# A pass's name, and knobs that are replaced by Triton's defaults.
_WHOLE = {"num_warps", "num_stages"}


def _side(row: Row) -> tuple[Product, dict[str, Any]]:
    """Return problem and configuration of one side."""
    if row.kernel not in _KERNELS:
        raise UnusableError("a kernel that we did not write")
    if row.config.get("_pass") not in {BEFORE, AFTER}:
        raise UnusableError("a pass in the middle of a retune, or a repetition")
    if _WHOLE - set(row.config):
        raise UnusableError("the tile only is known of a side")
    sides = (row.number(side) for side in "MNK")
    plain = Row(**{**vars(row), "config": {k: v for k, v in row.config.items() if k != "_pass"}})
    config = config_of(plain)
    row.dropped.update(plain.dropped)
    return Product(*sides, KINDS[_KERNELS[row.kernel]], row.product), config


def _contradicted(row: Row, again: float | None) -> bool:
    """Return whether the old configuration took a very different time when it was timed again.

    In that case, the problem was not timed with its published configurations.
    """
    once = row.time_us
    return bool(once and again) and max(once / again, again / once) > APART


def retunes(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return a sample of the pairs with two known sides."""
    known: dict[str, dict[str, tuple[Row, Product, dict[str, Any]]]] = {}
    again = {row.problem: row.time_us for row in rows if row.kind == "ab_pair" and row.config.get("_pass") == AGAIN}
    # Pairs of other kernels have their own families.
    products = (row for row in rows if row.kind == "ab_pair" and row.kernel.startswith("_gemm"))
    chosen = (row for row in products if row.time_us is not None)
    for row, (what, config) in each(rows, chosen, _side):
        known.setdefault(row.problem, {})[row.config["_pass"]] = row, what, config
    whole = sorted(((name, sides) for name, sides in known.items() if len(sides) == 2), key=lambda entry: entry[0])
    found = []
    for name, sides in whole[: 4 if quick else None]:
        if _contradicted(sides[BEFORE][0], again.get(name)):
            for row, _, _ in sides.values():
                skip(rows, row, "timed again with the same configuration, it took another time")
            continue
        candidates = [
            Candidate(what.points(config), row.config, row.time_us, triton=row.triton, longest=True)
            for row, what, config in (sides[BEFORE], sides[AFTER])
        ]
        what = sides[BEFORE][1]
        found.append(what.problem(f"{what.m}x{what.n}x{what.k}", candidates))
    return found


FAMILY = Family(
    "retunes",
    "AITER block-scaled FP8 GEMM before and after a retune",
    "pair",
    "GROUP_M, the split and the sizes are launch arguments",
    retunes,
    "Pairs of which both configurations are known whole. The old side was measured with Triton 3.4, the new one with "
    "3.6: the measured gain has the compiler's in it, and so has the predicted one, each side from the code of its own "
    "Triton. Pairs whose old side took more than 1.25 times as long, or as short, when it was timed "
    "once more are left out: six, all of N = K = 8,192, were not timed with what is published of them. That rows "
    "shorter than 128 bytes, and not 256, cost more on gfx950 was chosen by these rows; nothing else was fitted on "
    "them. Where K is split, the product and the sum of its parts are two kernels; the script that timed them "
    "(`baseline_clean.py` of the same commit) keeps one line of `rocprof --stats`, the first that has the kernel's "
    "name, and lines are ordered by total time: so the longer of both is predicted.",
    private=True,
    packages=("aiter",),
)
