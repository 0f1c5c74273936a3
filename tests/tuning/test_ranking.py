"""The engine behind the priors: an order, what cannot be launched, and how many candidates to time."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from kprof.errors import KprofError
from kprof.tuning.prior_notes import PriorReport, label
from kprof.tuning.ranking import CandidateRanker, CandidateRanking, leading

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
"""


def test_candidates_within_the_least_certain_difference_are_timed() -> None:
    """The published pairs that differ by 20 % and more were measured in the predicted order in 95 % of the cases."""
    from kprof_analyzers.model.certainty import steps

    apart = next(step.least for step in steps() if step.right >= 0.95)
    assert leading([100, 100 * (1 + apart) - 1, 100 * (1 + apart) + 1], 0.95) == 2
    assert leading([100, 500], 1.0) == 2, "no difference is certain"
    assert leading([], 0.95) == 0


def test_what_is_timed() -> None:
    """The leading ones, up to the maximum; what has no prediction stays; what cannot be launched goes."""
    ranking = CandidateRanking((3, 0, 2), {3: 1.0, 0: 1.1, 2: 9.0}, {1: "too much LDS"}, {4: "no time"}, enough=2)

    assert ranking.to_time(8) == [3, 0, 4]
    assert ranking.to_time(1) == [3, 4]
    assert ranking.problem == "no time"


def test_what_was_not_reached_is_timed_only_if_little_is_known() -> None:
    """The rough estimate compiles the promising ones first."""
    ranking = CandidateRanking((1, 0), {1: 1.0, 0: 1.1}, {}, {2: "no time", 3: "odd"}, frozenset({2}), enough=2)

    assert ranking.to_time(2) == [1, 0, 3]
    assert ranking.to_time(3) == [1, 0, 2, 3]


def test_a_report_names_the_order_the_additions_and_what_is_left_out() -> None:
    """One line for the capture."""
    ranking = CandidateRanking((1, 0, 3), {1: 5.0, 0: 5.5, 3: 90.0}, {2: "too much LDS"}, {4: "no time"}, enough=2)
    labels = [label({"BLOCK": 2**n, "num_warps": 4}) for n in range(5)]

    text = PriorReport("mm", "gfx950", ranking, labels, ranking.to_time(8), added=(1,)).words()

    assert text == (
        "prior for mm (gfx950): 5 candidates, 1 of them added; to time, in this order: "
        "BLOCK=2 num_warps=4 = 5 µs (added); BLOCK=1 num_warps=4 = 5.5 µs; "
        "BLOCK=16 num_warps=4 = no prediction; 1 predicted to be slower; "
        "1 cannot be launched (too much LDS); 1 without a prediction (no time)"
    )


def test_a_certainty_is_a_share() -> None:
    """Refused where it is written."""
    with pytest.raises(KprofError, match="certainty must be between"):
        CandidateRanker("gfx942", 60, None, 95)


def test_candidates_that_are_errors_need_no_compiler() -> None:
    """If no candidate has a launch, the first reason is raised."""
    with pytest.raises(KprofError, match="two launches"):
        CandidateRanker("gfx942", 60, None).rank([KprofError("two launches")])


@pytest.mark.triton
@pytest.mark.slow
def test_configurations_of_a_kernel_are_ranked(tmp_path: Path) -> None:
    """With the real model: larger blocks of a copy launch fewer workgroups, and 4,096 lanes are no workgroup."""
    import kprof

    path = tmp_path / "copies.py"
    path.write_text(KERNEL)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    size = 1 << 22
    args = {"x": kprof.Tensor("fp32", (size,)), "y": kprof.Tensor("fp32", (size,)), "n": size}
    configs: list[dict[str, Any]] = [{"BLOCK": 64, "num_warps": 1}, {"BLOCK": 1024, "num_warps": 4}]
    configs.append({"BLOCK": 65536, "num_warps": 64})

    found = kprof.rank_configs(
        module.copy, configs, args, lambda values: (size // values["BLOCK"],), arch="MI300X", jobs=2
    )

    assert found.order == (1, 0)
    assert found.unit == "us"
    assert 0 < found.costs[1] < found.costs[0]
    assert set(found.unlaunchable) | set(found.unknown) == {2}
    assert found.enough in {1, 2}
