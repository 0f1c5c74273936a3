"""The document: several sides, verdicts, problems."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from kprof.diffing.comparing import Input, chains, diff, first_worse_step, severity, steepest_step, worst_step
from kprof.diffing.document import DiffStep, Explanation, KernelDiff
from kprof.diffing.limits import DiffLimits
from kprof.findings import Severity

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
    assert "3.1.0 to 3.2.0: VGPRs spilled 0 → 129" in found.verdict.summary


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


@given(st.lists(st.integers(0, 5), min_size=2, max_size=7))
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
    assert "no longer compiles" in found.verdict.summary


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


def _verdict(sides: list[Input]) -> str:
    return diff(sides, LIMITS).verdict.summary


def test_the_verdict_says_how_many_of_how_many_and_between_what(made) -> None:
    many = [made.kernel(n) for n in ("a", "b", "c")]
    worse = [made.kernel("a", vgpr_spills=9), made.kernel("b", waves=3.0), made.kernel("c")]
    assert _verdict([Input("old", many), Input("new", worse)]) == (
        "regression: 2 of 3 kernels worse from old to new; a on gfx942: VGPRs spilled 0 → 9"
    )
    assert _verdict([Input("old", many[2:]), Input("new", worse[2:])]) == (
        "ok: no kernel is worse from old to new: 1 same"
    )
    assert _verdict(_spilling(made, 0, 0, 129)) == (
        "regression: 1 of 1 kernel worse with 3.2.0; gemm on gfx942, 3.1.0 to 3.2.0: VGPRs spilled 0 → 129"
    )


def test_the_verdict_counts_what_is_no_regression(made) -> None:
    old = [made.kernel("gone"), made.kernel("mended", vgpr_spills=9), made.kernel("same")]
    new = [made.kernel("new"), made.kernel("mended"), made.kernel("same")]
    assert _verdict([Input("a", old), Input("b", new)]) == (
        "ok: no kernel is worse from a to b: 1 better, 1 same, 1 new, 1 gone"
    )


def test_a_kernel_that_is_lost_is_named_without_a_number(made) -> None:
    lost = {("gemm", "gfx942"): "crashed: signal 6"}
    sides = [*_spilling(made, 0), Input("3.9.0", [], ["gemm on gfx942 does not compile", "a file is cut off"], lost)]
    assert _verdict(sides) == (
        "regression: 1 of 1 kernel worse from 3.0.0 to 3.9.0; gemm on gfx942 no longer compiles; cannot be "
        "determined: 2 could not be compiled or read: 3.9.0: gemm on gfx942 does not compile"
    )


def test_what_cannot_be_told_has_all_reasons(made) -> None:
    """Figures that one side lacks, a file that is damaged, and kernels of which something was not seen."""
    unseen = [made.kernel(n, unseen="its loops are not known") for n in ("b", "c")]
    old = [made.kernel("a"), made.kernel("b"), made.kernel("c")]
    lacking = made.kernel("a", vgpr_spills=None)
    sides = [Input("old", old, ["a file is cut off"]), Input("new", [lacking, *unseen])]
    assert _verdict(sides) == (
        "cannot tell: 1 of 3 kernels lack figures on one side, 1 could not be compiled or read: old: a file is cut "
        "off, b of new: its loops are not known (and 1 more)"
    )
    worse = made.kernel("d", vgpr_spills=1)
    sides = [Input("old", [*old, made.kernel("d")]), Input("new", [lacking, *unseen, worse])]
    assert _verdict(sides) == (
        "regression: 1 of 4 kernels worse from old to new; d on gfx942: VGPRs spilled 0 → 1; cannot be determined: "
        "b of new: its loops are not known, 1 of 4 kernels lack figures on one side"
    )


def test_a_kernel_that_came_back_is_compared_with_what_it_was(made) -> None:
    """Gone in between and no worse: neither new nor gone; with one that was lost before it is better."""
    sides = [*_spilling(made, 4), Input("3.1.0", []), *_spilling(made, 4)]
    (kernel,) = diff(sides, LIMITS).kernels
    assert (kernel.status, kernel.figures["vgpr_spills"]) == ("same", [4, None, 4])
    (step,) = kernel.steps
    assert (step.old, step.new) == (0, 2)


def test_the_gravest_kernel_of_equal_status_is_first_and_then_names_decide(made) -> None:
    def sides(**new: int) -> list[Input]:
        return [
            Input("a", [made.kernel(name) for name in new]),
            Input("b", [made.kernel(name, vgpr_spills=spills) for name, spills in new.items()]),
        ]

    assert [k.name for k in diff(sides(z=1, b=1, c=0), LIMITS).kernels] == ["b", "z", "c"]


def test_the_step_to_explain_is_the_steepest(made) -> None:
    """The kernel is worse from the first step on; the second one made most of it, and the summary names that one."""
    found = diff(_spilling(made, 0, 5, 60, 61), LIMITS)
    (kernel,) = found.kernels
    assert found.verdict.summary.endswith("VGPRs spilled 5 → 60")
    steep, worst = steepest_step(kernel), worst_step(kernel)
    assert steep is not None
    assert worst is not None
    assert (steep.old, steep.new) == (1, 2)
    assert (worst.old, worst.new) == (2, 3)
    assert severity(kernel).value == "warning"
    (fine,) = diff(_spilling(made, 5, 5), LIMITS).kernels
    assert steepest_step(fine) is None
    assert first_worse_step(fine) is None
    assert severity(fine).value == "note"


def test_the_step_to_explain_made_what_is_worse_in_the_end(made) -> None:
    """A later step adds spills; waves per SIMD, which the whole upgrade halves, matter more."""
    sides = [
        Input("a", [made.kernel(waves=4.0)]),
        Input("b", [made.kernel(waves=1.0)]),
        Input("c", [made.kernel(waves=1.0, vgpr_spills=2)]),
    ]
    (kernel,) = diff(sides, LIMITS).kernels
    worst, steep = worst_step(kernel), steepest_step(kernel)
    assert worst is kernel.steps[1]
    assert steep is kernel.steps[0]
    mended = diff([*sides[:2], Input("c", [made.kernel(waves=4.0, vgpr_spills=2)])], LIMITS).kernels[0]
    assert steepest_step(mended) is mended.steps[1]


def test_a_kernel_that_is_better_in_one_thing_and_worse_in_another_is_a_regression(made) -> None:
    """Mixed: what is worse is named and dated like any regression."""
    sides = [Input("a", [made.kernel(vgpr_spills=9)]), Input("b", [made.kernel(waves=3.0)])]
    found = diff(sides, LIMITS)
    (kernel,) = found.kernels
    assert kernel.status == "mixed"
    assert found.verdict.summary == (
        "regression: 1 of 1 kernel worse from a to b; gemm on gfx942: waves per SIMD 4 → 3"
    )
    assert steepest_step(kernel) is kernel.steps[0]
    assert kernel.against == 0


def test_kernels_of_one_status_are_ordered_by_their_gravest_change(made) -> None:
    """A kernel without any change, such as a new one, comes behind by its status alone."""
    names = ("a", "b", "c")
    sides = [
        Input("x", [made.kernel(n) for n in names[:2]]),
        Input("y", [made.kernel("a", sgpr=31), made.kernel("b", vgpr_allocated=112), made.kernel("c")]),
    ]
    assert [(k.name, k.status) for k in diff(sides, LIMITS).kernels] == [
        ("c", "new"),
        ("b", "changed"),
        ("a", "changed"),
    ]


def test_the_nearest_side_that_is_better_is_the_one_to_compare_with(made) -> None:
    """The side before the last first, then from the first one on; only the third of five has fewer spills here."""
    (kernel,) = diff(_spilling(made, 20, 20, 0, 20, 10), LIMITS).kernels
    assert (kernel.status, kernel.against) == ("worse", 2)
    (kernel,) = diff(_spilling(made, 0, 0, 0, 5, 9), LIMITS).kernels
    assert kernel.against == 3
    (kernel,) = diff(_spilling(made, 9, 9, 9), LIMITS).kernels
    assert (kernel.status, kernel.against) == ("same", UNSET)


def test_a_kernel_of_one_side_has_no_step_to_show(made) -> None:
    (kernel,) = diff([Input("a", []), Input("b", [made.kernel()])], LIMITS).kernels
    assert kernel.steps == []
    assert [which(kernel) for which in (worst_step, first_worse_step, steepest_step)] == [None] * 3


def test_the_document_names_its_sides(made) -> None:
    """Tritons once and in order; explanations go with the chain that they were made for, wherever it is sorted."""
    old = [made.kernel("a", triton="3.9.0"), made.kernel("b", triton="3.10.0"), made.kernel("c", triton=made.UNSET)]
    new = [made.kernel("a"), made.kernel("b", vgpr_spills=4), made.kernel("c")]
    sides = [Input("x", old, ["cut off"]), Input("y", new)]
    why = Explanation(0, 1, "because")
    found = diff(sides, LIMITS, {1: why}, ["said first"])
    assert [(s.label, s.tritons, s.kernels, s.problems) for s in found.sides] == [
        ("x", ["3.10.0", "3.9.0"], 3, ["cut off"]),
        ("y", ["3.9.0"], 3, []),
    ]
    assert [(k.name, k.explanation) for k in found.kernels if k.explanation is not UNSET] == [("b", why)]
    assert found.kernels[0].name == "b"
    assert found.notes[0] == "said first"


def test_nothing_on_either_side_is_nothing_to_compare(made) -> None:
    assert _verdict([Input("a", []), Input("b", [])]) == "cannot tell: there is nothing to compare"
    assert _verdict([Input("a", [made.kernel()]), Input("b", [])]) == "cannot tell: no kernel is on both sides"


def test_large_numbers_are_written_out(made) -> None:
    for number, written in ((999_999, "999,999"), (1_000_000, "1,000,000"), (1_234_567, "1,234,567")):
        assert _verdict(_spilling(made, 0, number)).endswith(f"VGPRs spilled 0 → {written}")


def test_the_gravest_of_several_changes_gives_the_severity(made) -> None:
    """Spills in a loop are an error, spilled registers a warning, scalar registers a note."""
    new = made.kernel(vgpr_spills=3, sgpr=60, loops=[made.loop(spill_accesses=3)])
    (kernel,) = diff([Input("a", [made.kernel()]), Input("b", [new])], LIMITS).kernels
    assert severity(kernel) is Severity.ERROR
    (kernel,) = diff(_spilling(made, 9, 3), LIMITS).kernels
    assert severity(kernel) is Severity.NOTE


def test_a_kernel_that_is_lost_comes_behind_those_with_a_change_for_the_worse(made) -> None:
    """There is nothing to show of it."""
    lost = {("a", "gfx942"): "crashed: signal 6"}
    old, new = [made.kernel("a"), made.kernel("z")], [made.kernel("z", vgpr_spills=9)]
    found = diff([Input("x", old), Input("y", new, ["a does not compile"], lost)], LIMITS).kernels
    assert [(k.name, k.status) for k in found] == [("z", "worse"), ("a", "worse")]


def test_the_side_that_lost_a_kernel_is_the_one_beside_those_that_have_it(made) -> None:
    """A kernel that the last side could not compile is worse; one that the side just before it could not is better."""
    lost = {("gemm", "gfx942"): "crashed: signal 6"}
    has, without, losing = Input("a", [made.kernel()]), Input("b", []), Input("c", [], ["no gemm"], lost)
    cases = [
        ([has, has, losing], "worse"),
        ([has, losing, without], "gone"),
        ([without, losing, has], "better"),
        ([losing, without, has], "new"),
    ]
    for sides, status in cases:
        assert [kernel.status for kernel in diff(sides, LIMITS).kernels] == [status]


def test_kernels_that_say_the_same_of_themselves_are_counted(made) -> None:
    """Two of one name, one specialisation and one grid: which is which is only likely."""
    both = [made.kernel(vgpr=100), made.kernel(vgpr=40, vgpr_allocated=40, lds_bytes=1024)]
    found = diff([Input("a", both), Input("b", list(reversed(both)))], LIMITS)
    assert found.verdict.summary == (
        "ok: no kernel is worse from a to b: 2 same; 2 of 2 kernels have the same description as others and "
        "were paired by similarity"
    )


def test_a_step_that_cannot_be_judged_is_shown_before_one_without_harm() -> None:
    unknown, changed = DiffStep(0, 1, "unknown", []), DiffStep(1, 2, "changed", [])
    assert worst_step(KernelDiff("gemm", "gfx942", "unknown", [unknown, changed])) is unknown
