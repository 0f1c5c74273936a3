"""What a prediction costs, in operations that the simulator passes: seconds depend on the machine, these do not."""

import gc

import pytest

from kprof_analyzers.model import kernel as model
from kprof_analyzers.model import predict
from kprof_analyzers.model.simulate import Simulator

LOOP = ["s_mov_b32 s0, 0", ".LBB0_1:"]
BACK = ["s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]
ADD = "v_add_u32_e32 v0, v1, v2"


@pytest.fixture
def passed(monkeypatch):
    """For each simulation the number of operations that its wavefronts pass, and how many wavefronts there are."""
    counts: list[list[int]] = []

    def counted(step, mine):
        def call(*arguments):
            mine[0] += 1
            return step(*arguments)

        return call

    steppers = Simulator.steppers

    def counting(self):
        counts.append([0, len(self.begins)])
        return [counted(step, counts[-1]) for step in steppers(self)]

    monkeypatch.setattr(Simulator, "steppers", counting)
    return counts


@pytest.mark.parametrize("size", [100, 2_000, 12_000])
@pytest.mark.parametrize("warps", [4, 16])
def test_a_simulation_has_a_bounded_number_of_operations(kernel, passed, size, warps):
    """A share of the budget for all iterations together, or two of a long body; never all iterations of the launch."""
    predict(kernel([*LOOP, *[ADD] * size, *BACK], warps=warps, grid=(304 * 7,)))

    for operations, waves in passed:
        two_iterations = 2 * waves * (size + 8)
        assert operations <= max(2 * model._STEPS, two_iterations)


def test_rounds_that_are_alike_are_simulated_once(kernel, passed):
    """A last round of one workgroup a CU, and one that runs alone, are the same simulation."""
    facts = kernel([*LOOP, *[ADD] * 50, *BACK], grid=(304 * 4 * 4 + 304,))
    found = predict(facts)

    assert found.workgroups_per_cu > 1
    assert len(passed) == 2


def test_nothing_of_a_prediction_is_left_to_the_collector_of_cycles(kernel):
    """Predictions come by the thousand: what only the collector finds would cost a share of each."""
    facts = kernel([*LOOP, *[ADD] * 200, *BACK], warps=4, grid=(304 * 7,))
    predict(facts)
    gc.collect()
    predict(facts)
    assert gc.collect() < 10
