"""The document: several sides, verdicts, problems."""

from hypothesis import given
from hypothesis import strategies as st

from kprof.diffing.comparing import Input, chains, diff, first_worse_step
from kprof.diffing.limits import DiffLimits

LIMITS = DiffLimits()


def _spilling(made, *numbers: int) -> list[Input]:
    """A side for each number of spilled registers."""
    return [Input(f"3.{i}.0", [made.kernel(vgpr_spills=n)]) for i, n in enumerate(numbers)]


def test_nothing_is_worse_than_itself(made) -> None:
    found = diff(_spilling(made, 3, 3), LIMITS)
    assert found.verdict.status == "ok"
    assert found.counts == {"same": 1}


def test_the_first_release_that_differs_is_found(made) -> None:
    found = diff(_spilling(made, 0, 0, 129), LIMITS)
    (kernel,) = found.kernels
    assert found.verdict.status == "regression"
    assert kernel.figures["vgpr_spills"] == [0, 0, 129]
    assert [step.status for step in kernel.steps] == ["same", "worse"]
    step = first_worse_step(kernel)
    assert step is not None
    assert (step.old, step.new) == (1, 2)
    assert "3.1.0 to 3.2.0: VGPRs spilled 0 to 129" in found.verdict.summary


def test_a_regression_that_was_mended_is_none(made) -> None:
    found = diff(_spilling(made, 0, 90, 0), LIMITS)
    assert found.verdict.status == "ok"
    assert [step.status for step in found.kernels[0].steps] == ["worse", "better"]


def test_a_regression_against_a_release_between_is_one(made) -> None:
    found = diff(_spilling(made, 139, 0, 10), LIMITS)
    assert found.verdict.status == "regression"
    assert found.kernels[0].against == 1


def test_a_regression_that_stays_is_dated_to_where_it_came_up(made) -> None:
    found = diff(_spilling(made, 0, 50, 60), LIMITS)
    step = first_worse_step(found.kernels[0])
    assert step is not None
    assert (step.old, step.new) == (0, 1)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=4))
def test_the_verdict_holds_the_last_side_against_all_before(made, numbers: list[int]) -> None:
    found = diff(_spilling(made, *numbers), LIMITS)
    worse = any(numbers[-1] > earlier for earlier in numbers[:-1])
    assert found.verdict.status == ("regression" if worse else "ok")


def test_new_and_gone_kernels_fail_nothing(made) -> None:
    both = made.kernel()
    sides = [Input("a", [both, made.kernel("old")]), Input("b", [both, made.kernel("new")])]
    found = diff(sides, LIMITS)
    assert found.counts == {"gone": 1, "new": 1, "same": 1}
    assert found.verdict.status == "ok"


def test_a_kernel_that_is_missing_in_between_is_compared_across(made) -> None:
    sides = [*_spilling(made, 0), Input("3.1.0", []), *_spilling(made, 7)]
    (chain,) = chains(sides)
    assert sorted(chain.entries) == [0, 2]
    assert diff(sides, LIMITS).verdict.status == "regression"


def test_a_kernel_that_does_not_compile_any_more_is_a_regression(made) -> None:
    lost = {("gemm", "gfx942"): "crashed: signal 6"}
    found = diff([*_spilling(made, 0), Input("3.9.0", [], ["gemm on gfx942 does not compile"], lost)], LIMITS)
    assert found.verdict.status == "regression"
    assert "does not compile any more" in found.verdict.summary


def test_a_kernel_that_compiles_now_is_better(made) -> None:
    lost = {("gemm", "gfx942"): "crashed: signal 6"}
    found = diff([Input("3.6.0", [], ["it crashed"], lost), *_spilling(made, 0)], LIMITS)
    assert found.counts == {"better": 1}
    assert found.verdict.status == "cannot_tell"


def test_nothing_in_common_cannot_be_told(made) -> None:
    found = diff([Input("a", [made.kernel("x")]), Input("b", [made.kernel("y")])], LIMITS)
    assert (found.verdict.status, found.verdict.summary) == ("cannot_tell", "cannot tell: no kernel is on both sides")
    assert diff([Input("a", []), Input("b", [])], LIMITS).verdict.status == "cannot_tell"


def test_what_could_not_be_read_cannot_be_told(made) -> None:
    found = diff([Input("a", [made.kernel()], ["a file is cut off"]), Input("b", [made.kernel()])], LIMITS)
    assert found.verdict.status == "cannot_tell"


def test_the_most_harmed_kernel_comes_first(made) -> None:
    names = ["same", "spilled", "occupancy", "looping"]
    new = {
        "same": {},
        "spilled": {"vgpr_spills": 9},
        "occupancy": {"waves": 3.0},
        "looping": {"loops": [made.loop(spill_accesses=1)]},
    }
    sides = [Input("a", [made.kernel(n) for n in names]), Input("b", [made.kernel(n, **new[n]) for n in names])]
    assert [k.name for k in diff(sides, LIMITS).kernels] == ["looping", "spilled", "occupancy", "same"]


def test_two_hundred_kernels_take_no_time(made) -> None:
    import time

    entries = [made.kernel(f"k{n % 20}", constexprs={"BLOCK": n, "GROUP": n % 7}) for n in range(200)]
    changed = [made.kernel(f"k{n % 20}", constexprs={"BLOCK": n, "GROUP": n % 7}, vgpr_spills=n) for n in range(200)]
    started = time.process_time()
    found = diff([Input("a", entries), Input("b", changed)], LIMITS)
    assert found.counts == {"worse": 199, "same": 1}
    assert time.process_time() - started < 3
