"""The direction of a metric, which `diff` and `check` share."""

import pytest

from kprof.diffing.limits import DiffLimits
from kprof.diffing.rating import ComparedFigure, is_worse, rate
from kprof.findings import Severity


@pytest.mark.parametrize(
    ("metric", "before", "now", "worse"),
    [
        ("vgpr_spills", 0, 1, True),
        ("vgpr_spills", 1, 0, False),
        ("waves_per_simd", 4, 2, True),
        ("waves_per_simd", 2, 4, False),
        ("lds_bytes", 3.0, 3.0 + 1e-12, False),
    ],
)
def test_a_metric_gets_worse_in_its_own_direction_and_not_by_rounding(metric, before, now, worse):
    assert is_worse(metric, before, now) is worse


@pytest.mark.parametrize("kind", ["matrix", "loops"])
def test_more_or_less_of_some_is_neither_good_nor_bad(kind):
    """They stand behind what does harm."""
    (found,) = rate(ComparedFigure(kind, "of them", 16, 8, Severity.NOTE), DiffLimits())
    assert (found.effect, found.old, found.new) == ("neutral", 16, 8)
    (spills,) = rate(ComparedFigure("vgpr_spills", "VGPRs spilled", 0, 8, Severity.NOTE), DiffLimits())
    assert found.rank > spills.rank
