"""The project's goals for the model, checked on the results."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

from validation.benchmarks.model import overall
from validation.benchmarks.model.evaluate import Judged
from validation.benchmarks.model.overall import SPREAD
from validation.benchmarks.model.overall import goal as _goal

TOP = 0.05
"""Winners should be in this share of their search space."""


def check(results: Mapping[str, Sequence[Judged]]) -> list[dict[str, Any]]:
    """Return each goal whose families ran: its text, the result, and whether it is reached."""
    found = []
    for name, goals in _CHECKS.items():
        shown = [judged for judged in results.get(name, ()) if judged.figures]
        if shown:
            found += [told for goal in goals if (told := goal(shown)) is not None]
    timed = [j.figures for name in ("streamk", "tune_gemm", "gemm_times") for j in results.get(name, ()) if j.figures]
    if timed:
        under = sum(one["under_roofline"] for one in timed)
        found.append(
            _goal(f"no predicted time under the roofline ({len(timed)} timed rows)", f"{under} under", not under)
        )
    return found + overall.check(results)


def _tritonblas_top1(shown: Sequence[Judged]) -> dict[str, Any]:
    raw, clean = (min(judged.figures[view]["top1"] for judged in shown) for view in ("raw", "clean"))
    words = f"least {raw:.3f} raw, {clean:.3f} clean"
    return _goal("tritonBLAS: top-1 at least 0.95 on each problem", words, min(raw, clean) >= 0.95)


def _tritonblas_spearman(shown: Sequence[Judged]) -> dict[str, Any] | None:
    """Return Spearman over problems with an order: a table whose times are within 5 % only has noise."""
    wide = [judged for judged in shown if judged.figures["spread"] > SPREAD]
    if not wide:
        return None
    values = {view: [judged.figures[view]["spearman"] or 0.0 for judged in wide] for view in ("raw", "clean")}
    words = ", ".join(f"{view} {'/'.join(f'{value:.2f}' for value in each)}" for view, each in values.items())
    left = ", ".join(judged.problem.name for judged in shown if judged not in wide)
    words += f" ({left} left out: all within 5 %)" if left else ""
    return _goal("tritonBLAS: Spearman at least 0.78 on each problem (clean)", words, all_over(values["clean"], 0.78))


def _cliff(shown: Sequence[Judged]) -> dict[str, Any] | None:
    """Return the goal about 256x256x64 with 4 warps: slow with waves_per_eu 2, while the best tile ranks high."""
    factors = []
    for judged in shown:
        tiles = [one for one in judged.scored if _is(one.candidate.config, 256, 256, 64, 4)]
        cliff = [one.us for one in tiles if one.candidate.config.get("waves_per_eu") == 2]
        plain = [one.us for one in tiles if one.candidate.config.get("waves_per_eu") == 0]
        if cliff and plain:
            factors.append(min(cliff) / min(plain))
    if not factors:
        return None
    words = "/".join(f"{factor:.1f}" for factor in factors)
    return _goal(
        "the cliff (4 warps, waves_per_eu 2) is predicted as at least 3 times slower", words, all_over(factors, 3)
    )


def all_over(values: Sequence[float], least: float) -> bool:
    """Return whether there are values, all at least ``least``."""
    return bool(values) and min(values) >= least


def _is(config: Mapping[str, Any], m: int, n: int, k: int, warps: int) -> bool:
    names = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps")
    return tuple(config.get(name) for name in names) == (m, n, k, warps)


def _mm_top1(shown: Sequence[Judged]) -> dict[str, Any]:
    value = fmean(judged.figures["raw"]["top1"] for judged in shown)
    return _goal("Inductor mm/addmm: top-1 at least 0.9 on average", f"{value:.3f}", value >= 0.9)


def _winners(label: str, least: float) -> Any:
    """Return goals for winners: their position, and whether the model beats choosing the most common configurations."""

    def goal(shown: Sequence[Judged]) -> dict[str, Any]:
        places = [judged.figures["percentile"] for judged in shown]
        share = fmean(place <= TOP for place in places)
        first, common = (fmean(judged.figures[name] for judged in shown) for name in ("top5", "common_top5"))
        words = (
            f"{share:.0%} of {len(places)}, median percentile {median(places):.1%}; "
            f"{first:.0%} among the first five, {common:.0%} among the five most common"
        )
        text = (
            f"{label}: {least:.0%} of the winners in the top 5 %, among the first five more often than the common five"
        )
        return _goal(text, words, share >= least and first > common)

    return goal


def _gfx1250(shown: Sequence[Judged]) -> dict[str, Any]:
    from validation.benchmarks.model.summary import summary

    found = summary(shown)
    words = f"{found['in_range']:.0%} of {len(shown)}, {found['ratio_median']:.2f}"
    goal = "gfx1250: 80 % of the times in range, median ratio between 0.8 and 1.25"
    return _goal(goal, words, found["in_range"] >= 0.8 and 0.8 <= found["ratio_median"] <= 1.25)


def _tiles(shown: Sequence[Judged]) -> dict[str, Any] | None:
    from validation.benchmarks.model.summary import summary

    found = summary(shown)
    if "matrix_share_off_by_points" not in found:
        return None
    off, order = found["matrix_share_off_by_points"], found["order_right"]
    words = f"{off:.1f} points over {found['traced']}"
    words += "" if order is None else f", order of {order:.0%} of {found['pairs_of_kernels']}"
    goal = "Gluon tiles: matrix share within 3 points on average, order of the variants right"
    return _goal(goal, words, off <= 3 and order in {None, 1})


def _attention(shown: Sequence[Judged]) -> dict[str, Any]:
    """Compare the gain of the second configuration over the first with the published gain."""
    words, good = [], []
    for judged in shown:
        if len(judged.scored) != 2:
            return _goal("attention D=256: 64x32 ahead, gain within a factor 1.5 of the published", "failed", False)
        slow, fast = judged.scored
        gain = slow.us / fast.us
        published = (slow.candidate.time_us or 0) / (fast.candidate.time_us or 1)
        words.append(f"{gain:.2f} for {published:.2f}")
        good.append(gain > 1 and published / 1.5 <= gain <= published * 1.5)
    return _goal("attention D=256: 64x32 ahead, gain within a factor 1.5 of the published", ", ".join(words), all(good))


def _gains(shown: Sequence[Judged]) -> dict[str, Any]:
    from validation.benchmarks.model.summary import summary

    found = summary(shown)
    sign, order, near = found["sign_right"] or 0.0, found["gain_spearman"] or 0.0, found["within_1.25"]
    words = f"{sign:.0%}, {order:.2f}, {near:.0%} of {len(shown)}"
    goal = "retunes: sign right for 85 %, gains' Spearman at least 0.75, 60 % within a factor 1.25"
    return _goal(goal, words, sign >= 0.85 and order >= 0.75 and near >= 0.6)


def _validity(shown: Sequence[Judged]) -> dict[str, Any]:
    from validation.benchmarks.model.summary import summary

    found = summary(shown)
    right, exact = found["launch_right"], found["lds_exact"] or 0.0
    words = f"{right:.1%} of {len(shown)}, {exact:.1%} of {found['with_lds']}"
    return _goal("validity: launch or not 100 %, LDS exact 99 %", words, right >= 1 and exact >= 0.99)


def _loops(shown: Sequence[Judged]) -> dict[str, Any]:
    """If a loop was traced in another order than ours compiles to, use the traced order."""
    from validation.benchmarks.model.summary import summary

    words = []
    for judged in shown:
        compiled, ordered = judged.figures["cycles_off"], judged.figures["ordered_off"]
        said = f"{compiled:+.1%}" if ordered is None else f"{ordered:+.1%} in the traced order, {compiled:+.1%} as ours"
        words.append(f"{judged.problem.name} {said}")
    goal = "thread traces of the MI300X: cycles of an iteration within 8 %"
    return _goal(goal, ", ".join(words), summary(shown)["in_published_order_most_off"] <= 0.08)


_CHECKS: dict[str, list[Any]] = {
    "tritonblas": [_tritonblas_top1, _tritonblas_spearman, _cliff],
    "mm": [_mm_top1],
    "attention": [_attention],
    "fused_moe": [_winners("fused MoE", 0.75)],
    "block_fp8": [_winners("block FP8", 0.6)],
    "retunes": [_gains],
    "validity": [_validity],
    "gfx1250": [_gfx1250],
    "gluon": [_tiles],
    "gluon_traces": [_loops],
}
