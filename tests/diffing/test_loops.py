"""Loops of two compiles: each figure in words, with its place and its weight."""

import pytest

from kprof.diffing.limits import DiffLimits
from kprof.diffing.loops import compare_loops, compare_widths, place
from kprof.document import Location

LIMITS = DiffLimits()


def changes(made, old: list, new: list) -> list:
    """What changed in the loops."""
    return list(compare_loops(made.kernel(loops=old), made.kernel(loops=new), LIMITS))


def one(made, **new):
    """The only change from a loop to the same one with other values."""
    (change,) = changes(made, [made.loop()], [made.loop(**new)])
    return change


def test_the_place_of_a_loop(made) -> None:
    """The file's name with one line or two, on any system; the label where there are no lines."""
    assert place(made.loop(20, 30)) == "gemm.py:20-30"
    assert place(made.loop(20, 20)) == "gemm.py:20"
    assert place(made.loop(lines={"C:\\src\\gemm.py": (7, 8)})) == "gemm.py:7-8"
    assert place(made.loop(lines={"gemm.py": (7, 8), "/other.py": (1, 2)})) == "gemm.py:7-8"
    assert place(made.loop(lines={})) == ".LBB0_1"


def test_spills_of_a_loop(made) -> None:
    change = one(made, spill_accesses=3)
    assert (change.metric, change.text, change.old, change.new) == ("loop_spills", "spill accesses per iteration", 0, 3)
    assert (change.severity.value, change.where, change.hot, change.note) == ("error", "gemm.py:20-30", True, "")


def test_spills_of_an_outer_loop_are_its_own(made) -> None:
    """Accesses of an inner loop are reported there alone; the outer loop has only its own."""
    inner = made.loop(22, 26, depth=2)

    def outer(spills: int):
        return made.loop(20, 30, hot=False, innermost=False, spill_accesses=spills)

    (change,) = changes(made, [outer(0), inner], [outer(4), inner])
    assert (change.text, change.old, change.new) == ("spill accesses in all loops", 0, 4)
    assert (change.severity.value, change.where) == ("error", "gemm.py:20-30")
    spilling = made.loop(22, 26, depth=2, spill_accesses=4)
    (change,) = changes(made, [outer(0), inner], [outer(4), spilling])
    assert (change.text, change.where) == ("spill accesses per iteration", "gemm.py:22-26")


@pytest.mark.parametrize(
    ("drains", "hot", "severity"), [(2, True, "warning"), (2, False, "note"), (3, True, "warning"), (1, True, None)]
)
def test_waits_for_everything(made, drains, hot, severity) -> None:
    """From one to two is as much again."""
    found = changes(made, [made.loop(hot=hot)], [made.loop(hot=hot, waits={"vmcnt(0)": drains})])
    assert [(c.text, c.severity.value) for c in found] == ([("full waits per iteration", severity)] if severity else [])


@pytest.mark.parametrize(("count", "severity"), [(26, None), (30, "note"), (100, "warning")])
def test_instructions_of_an_iteration(made, count, severity) -> None:
    """A tenth is not told; a warning is for what grows a lot."""
    instructions = {"v_mfma_f32_32x32x8_f16": 16, "global_load_dwordx4": 8, "v_add_f32": count - 24}
    found = changes(made, [made.loop()], [made.loop(instructions=instructions)])
    assert [(c.text, c.old, c.new, c.severity.value) for c in found] == (
        [("instructions per iteration", 24, count, severity)] if severity else []
    )


def test_instructions_by_class_and_by_shape(made) -> None:
    change = one(made, classes={"matrix": 16, "vmem": 8, "valu": 40})
    assert (change.metric, change.text) == ("instructions:valu", "valu instructions per iteration")
    assert (change.old, change.new, change.severity.value) == (0, 40, "note")
    assert changes(made, [made.loop()], [made.loop(classes={"matrix": 16, "vmem": 8, "scratch": 40})]) == []
    change = one(made, matrix={"32x32x8 f16": 16})
    assert (change.metric, change.text) == ("matrix:32x32x8 f16", "matrix instructions 32x32x8 f16 per iteration")
    assert (change.old, change.new, change.effect) == (0, 16, "neutral")


def test_a_loop_that_does_twice_the_work_may_take_twice_as_much(made) -> None:
    """It was unrolled. Work is that of matrix instructions, else of loads; where only one side has such, nothing is."""
    twice = {"v_mfma_f32_32x32x8_f16": 32, "global_load_dwordx4": 16}
    unrolled = made.loop(instructions=twice, flops=2048, classes={"matrix": 32, "vmem": 16}, waits={"vmcnt(0)": 2})
    assert changes(made, [made.loop()], [unrolled]) == []
    spilling = made.loop(
        instructions=twice, flops=2048, classes={"matrix": 32, "vmem": 16}, waits={"vmcnt(0)": 2}, spill_accesses=5
    )
    (change,) = changes(made, [made.loop(spill_accesses=1)], [spilling])
    assert (change.note, change.old, change.new) == ("for 2 times the work", 1, 5)
    without = made.loop(instructions=twice, flops=0, classes={"matrix": 32, "vmem": 16})
    assert "instructions per iteration" in [c.text for c in changes(made, [made.loop()], [without])]


@pytest.mark.parametrize(
    ("name", "narrow", "kind", "severity"),
    [
        ("global_load_dwordx4", "global_load_dword", "global load", "warning"),
        ("global_store_dwordx4", "global_store_dword", "global store", "warning"),
        ("ds_read_b128", "ds_read_b32", "LDS load", "note"),
        ("ds_write_b128", "ds_write_b32", "LDS store", "note"),
    ],
)
def test_widths(made, name, narrow, kind, severity) -> None:
    """In a loop, and in a kernel without any; fewer bytes are worse."""
    old, new = {name: 4}, {name: 2, narrow: 2}
    found = changes(made, [made.loop(instructions=old)], [made.loop(instructions=new)])
    assert [(c.metric, c.text, c.old, c.new, c.severity.value, c.effect, c.note, c.hot) for c in found] == [
        (
            f"width:{kind}",
            f"bytes per lane of a {kind}",
            16,
            10.0,
            severity,
            "worse",
            "4x16, then 2x16 2x4 (count x bytes)",
            True,
        )
    ]
    plain = [made.kernel(loops=[], instructions=each) for each in (old, new)]
    (change,) = compare_widths(*plain, LIMITS)
    assert (change.metric, change.where, change.hot) == (f"width:{kind}", "", False)


def test_stores_behind_the_loops_are_compared_where_no_loop_stores(made) -> None:
    old, new = (
        {"global_store_dwordx4": 4, "global_load_dwordx4": 4},
        {"global_store_dword": 16, "global_load_dword": 16},
    )
    around = [made.kernel(instructions=each) for each in (old, new)]
    assert [c.metric for c in compare_widths(*around, LIMITS)] == ["width:global store"]
    storing = made.loop(instructions={"global_store_dwordx4": 1})
    for loops in ([made.loop(), storing], [storing, made.loop()]):
        kernels = [made.kernel(instructions=old), made.kernel(instructions=new, loops=loops)]
        assert list(compare_widths(*kernels, LIMITS)) == []


def test_a_loop_that_moved_with_its_kernel_is_the_same_one(made) -> None:
    """By as many lines as the function did."""
    old = made.kernel(loops=[made.loop(20, 30), made.loop(40, 50, spill_accesses=2, hot=False)])
    moved = made.kernel(loops=[made.loop(120, 130), made.loop(140, 150, spill_accesses=2, hot=False)])
    assert list(compare_loops(old, made.without(moved, source=Location("/src/gemm.py", 110)), LIMITS)) == []


@pytest.mark.parametrize(("count", "told"), [(19, False), (23, False), (24, True), (8, True), (9, False)])
def test_differences_of_a_class_count_from_four_on_and_of_four_times_the_work_from_eight_on(made, count, told) -> None:
    """As the square root of the work: of 4 instructions 16 are expected, and 8 fewer or more are told."""
    old = made.loop(classes={"valu": 4}, instructions={"s_nop": 100}, flops=1024, waits={})
    new = made.loop(classes={"valu": count}, instructions={"s_nop": 400}, flops=4096, waits={})
    assert [c.metric for c in changes(made, [old], [new])] == ["instructions:valu"] * told


@pytest.mark.parametrize(("count", "told"), [(7, False), (8, True), (1, False), (0, True)])
def test_four_instructions_of_a_class_are_told(made, count, told) -> None:
    old, new = (made.loop(classes={"valu": n}, instructions={"s_nop": 100}, waits={}) for n in (4, count))
    assert [c.metric for c in changes(made, [old], [new])] == ["instructions:valu"] * told


def test_each_change_says_where_it_is_and_how_much_more_work_it_does(made) -> None:
    """Three times the work in five to seven times the instructions and waits."""
    old = made.loop(20, 30, classes={"valu": 10}, matrix={"16x16x16 f16": 1}, flops=1000)
    more = {"v_mfma_f32_32x32x8_f16": 100, "global_load_dwordx4": 8}
    new = made.loop(
        20, 33, classes={"valu": 70}, matrix={"16x16x16 f16": 7}, flops=3000, waits={"vmcnt(0)": 7}, instructions=more
    )
    found = changes(made, [old], [new])
    assert {c.metric for c in found} == {"drains", "loop_instructions", "instructions:valu", "matrix:16x16x16 f16"}
    assert {(c.where, c.hot, c.note) for c in found} == {("gemm.py:20-33", True, "for 3 times the work")}


@pytest.mark.parametrize("hot", [True, False])
def test_spills_of_a_loop_that_only_one_side_has(made, hot) -> None:
    """Nothing there counts as no spill; the loop that is there says where it is."""
    other = made.loop(90, 99, spill_accesses=3, hot=hot, flops=1)
    for old, new, numbers in (([], [other], (0, 3)), ([other], [], (3, 0))):
        found = [c for c in changes(made, old, new) if c.metric == "loop_spills"]
        assert [((c.old, c.new), c.where, c.hot, c.note) for c in found] == [(numbers, "gemm.py:90-99", hot, "")]


def test_a_kernel_that_moved_to_a_place_that_is_not_known_is_compared_as_it_stands(made) -> None:
    old = made.kernel(loops=[made.loop(20, 30)])
    assert list(compare_loops(old, made.without(old, source=made.UNSET), LIMITS)) == []


@pytest.mark.parametrize(("hot", "count", "severity"), [(True, 12, "note"), (True, 13, "warning"), (False, 13, "note")])
def test_a_quarter_of_the_larger_count_is_a_note_still(made, hot, count, severity) -> None:
    """Of 9 instructions 12 are a quarter of 12 more."""
    old, new = (made.loop(instructions={"s_nop": n}, hot=hot) for n in (9, count))
    assert [c.severity.value for c in changes(made, [old], [new])] == [severity]
