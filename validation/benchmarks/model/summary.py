"""Summarise a family's results in one line of figures."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

from validation.benchmarks.model import goals, metrics, overall, tiles, traced, validity
from validation.benchmarks.model.evaluate import COMMON, WITHIN, Judged
from validation.benchmarks.model.ranges import CREDIBLE_US

_ORDER = ("spearman", "top1", "top3", "top5", "pairs", "random_top1", "random_top3", "common_top1", "resource_spearman")
_ORDER += ("resource_top1", "resource_top3", "resource_pairs", "oracle_spearman")
"""What is averaged over the tables of a family."""


def summary(results: Sequence[Judged]) -> dict[str, Any]:
    """Return one line for a family: averages over its problems."""
    shown = [judged.figures for judged in results if judged.figures]
    failed = sum(judged.failed for judged in results)
    found: dict[str, Any] = {"problems": len(shown), "failed": failed}
    if not shown:
        return found
    if "raw" in shown[0]:
        # Tables within the noise have no order, so they are left out unless there are no others.
        shown = [one for one in shown if one["spread"] > overall.SPREAD] or shown
        for view in ("raw", "clean"):
            for key in _ORDER:
                values = [one[view][key] for one in shown if one[view][key] is not None]
                found[f"{view}_{key}"] = fmean(values) if values else None
            found[f"{view}_ratio"] = median([one[view]["ratio"][1] for one in shown])
    elif "launch_right" in shown[0]:
        found |= validity.summary(shown)
    elif "cycles_off" in shown[0]:
        found |= traced.summary(shown)
    elif "measured_gain" in shown[0]:
        found |= _gains(shown)
    elif "percentile" in shown[0]:
        found |= {
            "median_percentile": median([one["percentile"] for one in shown]),
            "top5_percent": fmean([one["percentile"] <= goals.TOP for one in shown]),
            "top5_percent_beyond_noise": fmean([one["near_tie"] <= goals.TOP for one in shown]),
            "recall_top1": fmean([one["top1"] for one in shown]),
            "recall_top3": fmean([one["top3"] for one in shown]),
            "recall_top5": fmean([one["top5"] for one in shown]),
            "recall_top20": fmean([one["top20"] for one in shown]),
            **{f"random_top{k}": fmean([min(1.0, k / one["n"]) for one in shown]) for k in COMMON},
            **{f"common_top{k}": fmean([one[f"common_top{k}"] for one in shown]) for k in COMMON},
            **{f"resource_top{k}": fmean([one[f"resource_top{k}"] for one in shown]) for k in COMMON},
            "median_resource_percentile": median([one["resource_percentile"] for one in shown]),
            "median_time_over_best": median([one["within"] for one in shown]),
        }
    else:
        ratios = [one["ratio"] for one in shown]
        longer = [one["ratio"] for one in shown if one["measured_us"] >= CREDIBLE_US]
        found |= {
            "ratio_p10": metrics.quantile(ratios, 0.1),
            "ratio_median": median(ratios),
            "ratio_p90": metrics.quantile(ratios, 0.9),
            "spearman": metrics.spearman([one["predicted_us"] for one in shown], [one["measured_us"] for one in shown]),
            "resource_spearman": metrics.spearman(
                [one["resource_us"] for one in shown], [one["measured_us"] for one in shown]
            ),
            "roofline_spearman": metrics.spearman(
                [one["roofline_us"] for one in shown], [one["measured_us"] for one in shown]
            ),
            "longer_than_5_us": len(longer),
            "longer_ratio_p10": metrics.quantile(longer, 0.1) if longer else None,
            "longer_ratio_median": median(longer) if longer else None,
            "longer_ratio_p90": metrics.quantile(longer, 0.9) if longer else None,
            "in_range": fmean([one["low_us"] <= one["measured_us"] <= one["high_us"] for one in shown]),
            "under_roofline": sum(one["under_roofline"] for one in shown),
            "measured_under_roofline": sum(one["measured_under_roofline"] for one in shown),
        }
        if "matrix_share" in shown[0]:
            found |= tiles.summary(shown)
    return found


def _gains(shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return figures of pairs: how often the sign is right, also for always predicting a gain, and the gain's error."""
    signed = [one for one in shown if one["sign"] is not None]
    measured = [one["measured_gain"] for one in shown]
    ratios = [ratio for one in shown for ratio in one["ratio"]]
    return {
        "gains_beyond_noise": len(signed),
        "sign_right": fmean([one["sign"] for one in signed]) if signed else None,
        "always_faster_right": fmean([one["measured_gain"] > 1 for one in signed]) if signed else None,
        "resource_sign_right": fmean([one["resource_sign"] for one in signed]) if signed else None,
        "gain_spearman": metrics.spearman([one["predicted_gain"] for one in shown], measured),
        "resource_gain_spearman": metrics.spearman([one["resource_gain"] for one in shown], measured),
        "within_1.25": fmean([one["within"] for one in shown]),
        "no_gain_within_1.25": fmean([max(gain, 1 / gain) <= WITHIN for gain in measured]),
        "median_measured_gain": median(measured),
        "median_predicted_gain": median([one["predicted_gain"] for one in shown]),
        "ratio_median": median(ratios),
        "in_range": fmean([inside for one in shown for inside in one["in_range"]]),
    }
