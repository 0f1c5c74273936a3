"""Tolerances of a comparison."""

import math

import pytest

from kprof.diffing.limits import TOLERANT, DiffLimits, Tolerance, tolerances
from kprof.errors import KprofError
from kprof.findings import Severity


def test_amounts_and_shares() -> None:
    found = tolerances(["vgpr_spills=4, loop_instructions=20%", "", "lds_bytes = 0,"])
    assert found == {
        "vgpr_spills": Tolerance(amount=4.0),
        "loop_instructions": Tolerance(share=0.2),
        "lds_bytes": Tolerance(amount=0.0),
    }


@pytest.mark.parametrize("item", ["vgpr_spills", "vgpr_spills=", "vgpr_spills=x", "vgpr_spills=-1", "vgpr_spills=inf"])
def test_what_is_no_tolerance_is_an_error(item) -> None:
    with pytest.raises(KprofError) as raised:
        tolerances([item])
    assert str(raised.value) == f"--tolerance takes METRIC=NUMBER or METRIC=NUMBER%, got {item!r}"


def test_an_unknown_metric_is_an_error_and_the_nearest_is_named() -> None:
    with pytest.raises(KprofError, match="no tolerance for 'vgpr_spill'") as raised:
        tolerances(["vgpr_spill=4"])
    assert "vgpr_spills" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("tolerance", "old", "new", "covered"),
    [
        (Tolerance(amount=4), 10, 14, True),
        (Tolerance(amount=4), 10, 15, False),
        (Tolerance(amount=4), 14, 10, True),
        (Tolerance(share=0.2), 80, 100, True),
        (Tolerance(share=0.2), 79, 100, False),
        (Tolerance(share=0.2), -100, -80, True),
        (Tolerance(amount=4, share=0.2), 10, 14, True),
        (Tolerance(), 3, 3, True),
        (Tolerance(), 3, 4, False),
    ],
)
def test_what_a_tolerance_covers(tolerance, old, new, covered) -> None:
    assert tolerance.covers(old, new) is covered


def test_only_metrics_that_were_named_are_let_through() -> None:
    limits = DiffLimits(tolerances=tolerances(["sgpr_spills=2"]))
    assert limits.tolerated("sgpr_spills", 30, 32)
    assert not limits.tolerated("vgpr_spills", 30, 30)


def test_the_rank_from_which_a_change_counts() -> None:
    assert DiffLimits().least == Severity.WARNING.rank
    assert DiffLimits(fail_on=None).least == math.inf


@pytest.mark.parametrize("metric", TOLERANT)
def test_every_metric_with_a_tolerance_is_one_that_a_comparison_has(metric) -> None:
    from kprof.diffing.rating import ORDER

    assert metric in ORDER
