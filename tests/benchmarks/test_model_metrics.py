"""Figures of the model's proof against hand values and brute force."""

import math
import statistics
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validation.benchmarks.model import metrics

times = st.lists(st.integers(1, 6).map(float), min_size=2, max_size=6)


def pairs(draw_from):
    return draw_from.flatmap(
        lambda xs: st.tuples(st.just(xs), st.lists(st.integers(1, 4), min_size=len(xs), max_size=len(xs)))
    )


def slow_ranks(values):
    """Places below, plus half of the equal ones."""
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


@given(times)
def test_ranks_share_ties(values):
    assert metrics.ranks(values) == slow_ranks(values)


def test_predictions_side_by_side_are_one():
    assert metrics.tied([3.0, 1.0005, 1.0, 1.0011, 2.0]) == [3.0, 1.0, 1.0, 1.0011, 2.0]
    assert metrics.tied([]) == []


def test_spearman_by_hand():
    # Sum of squared rank differences 2: 1 - 6 * 2 / (4 * 15).
    assert metrics.spearman([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)
    assert metrics.spearman([1, 2, 3], [30, 20, 10]) == pytest.approx(-1)
    assert metrics.spearman([1, 1, 1], [1, 2, 3]) is None


@given(pairs(times))
def test_spearman_is_the_correlation_of_ranks(both):
    first, second = both
    a, b = slow_ranks(first), slow_ranks(second)
    found = metrics.spearman(first, second)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(statistics.correlation(a, b))


@given(pairs(times), st.integers(1, 6))
def test_top_efficiency_is_the_mean_over_all_orders(both, k):
    measured, predicted = both
    orders = [
        order
        for order in permutations(range(len(measured)))
        if all(predicted[a] <= predicted[b] for a, b in pairwise(order))
    ]
    k = min(k, len(measured))
    expected = statistics.fmean(min(measured) / min(measured[i] for i in order[:k]) for order in orders)
    assert metrics.top_efficiency(predicted, measured, k) == pytest.approx(expected)


def test_random_choice_is_the_mean_of_single_ones():
    assert metrics.random_efficiency([1.0, 2.0, 4.0]) == pytest.approx((1 + 0.5 + 0.25) / 3)
    assert metrics.random_efficiency([1.0, 2.0, 4.0], 3) == 1


def test_pairs_within_noise_do_not_count():
    # 100 and 102 are one; the pairs with 200 are right and tied.
    assert metrics.pair_accuracy([2, 1, 2], [100, 102, 200]) == pytest.approx(0.75)
    assert metrics.pair_accuracy([1, 2], [100, 103]) is None
    assert metrics.pair_accuracy([2, 1], [100, 103.1]) == 0


@given(st.lists(st.floats(0.1, 10), min_size=2, max_size=20))
def test_quantiles_are_those_of_the_standard_library(values):
    deciles = statistics.quantiles(values, n=10, method="inclusive")
    assert metrics.quantile(values, 0.1) == pytest.approx(deciles[0])
    assert metrics.quantile(values, 0.9) == pytest.approx(deciles[8])
    assert metrics.quantile(values, 0.5) == pytest.approx(statistics.median(values))


def test_ratio_spread_is_in_order():
    low, middle, high = metrics.ratio_spread([1, 4, 3], [2, 2, 3])
    assert (middle, low < middle < high) == (1.0, True)
    assert high == pytest.approx(1.8)


def test_percentile_counts_what_is_before():
    assert metrics.percentile(2.0, [1.0, 3.0, 4.0, 5.0]) == 0.25
    assert metrics.percentile(2.0, [2.0, 3.0]) == 0.25
    assert metrics.percentile(1.0, []) == 0
    assert metrics.percentile(math.inf, [1.0, 2.0]) == 1
