"""Which entries belong together."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from kprof.diffing.loops import pair_loops
from kprof.diffing.pairing import BY_LIKENESS, KernelPair, match
from kprof.document import KernelReport, Specialization


def _pairs(found: list[KernelPair]) -> list[tuple[int | None, int | None]]:
    return [(m.old, m.new) for m in found]


def test_the_same_specialisation_is_found_wherever_it_stands(made) -> None:
    old = [made.kernel(constexprs={"BLOCK": n}) for n in (32, 64, 128)]
    found = match(old, old[::-1])
    assert _pairs(found) == [(0, 2), (1, 1), (2, 0)]
    assert not any(m.notes for m in found)


def test_other_hints_of_another_triton_do_not_part_a_pair(made) -> None:
    old = [made.kernel(attributes={"a_ptr": {"divisibility": 16}}, constexprs={"BLOCK": n}) for n in (32, 64)]
    hints = {"a_ptr": {"divisibility": 16, "pointer_range": 32}}
    new = [made.kernel(attributes=hints, constexprs={"BLOCK": n}) for n in (64, 32)]
    found = match(old, new)
    assert _pairs(found) == [(0, 1), (1, 0)]
    assert not any(m.notes for m in found)


def test_architectures_are_never_mixed(made) -> None:
    assert _pairs(match([made.kernel(arch="gfx942")], [made.kernel(arch="gfx950")])) == [(0, None), (None, 0)]


def test_the_nearest_specialisation_comes_second(made) -> None:
    old = [made.kernel(constexprs={"BLOCK": 64, "GROUP": 8, "EVEN": True})]
    far = made.kernel(constexprs={"BLOCK": 32, "GROUP": 1, "EVEN": False})
    near = made.kernel(constexprs={"BLOCK": 64, "GROUP": 4, "EVEN": True})
    (pair, other) = match(old, [far, near])
    assert (pair.old, pair.new) == (0, 1)
    assert "nearest" in pair.notes[0]
    assert (other.old, other.new) == (None, 0)


def test_kernels_that_have_little_in_common_are_new_and_gone(made) -> None:
    others = [made.kernel(constexprs={"A": n, "B": n, "C": n, "D": n, "E": n, "F": n, "G": n}) for n in range(4)]
    assert _pairs(match(others[:2], others[2:])) == [(0, None), (1, None), (None, 0), (None, 1)]


def test_entries_that_say_nothing_of_themselves_go_by_likeness(made) -> None:
    bare = Specialization()
    small, large = (made.kernel(spec=bare, instructions={"v_add_f32": n, "s_endpgm": 1}) for n in (10, 90))
    found = match([small, large], [large, small])
    assert _pairs(found) == [(0, 1), (1, 0)]
    assert all("similarity" in m.notes[0] for m in found)


def test_entries_that_say_the_same_are_told_apart_by_their_file(made) -> None:
    """Two that change places are two changes; a file that only one side has leaves likeness."""
    bare = Specialization()
    small, large = (made.kernel(spec=bare, instructions={"v_add_f32": n, "s_endpgm": 1}) for n in (10, 90))

    def under(kernel, file):
        return msgspec.structs.replace(kernel, file=file)

    old = [under(small, "a.amdgcn"), under(large, "b.amdgcn")]
    found = match(old, [under(large, "a.amdgcn"), under(small, "b.amdgcn")])
    assert _pairs(found) == [(0, 0), (1, 1)]
    assert not any(m.notes for m in found)
    found = match(old, [under(large, "a.amdgcn"), under(small, "c.amdgcn")])
    assert _pairs(found) == [(0, 0), (1, 1)]
    assert [m.notes for m in found] == [(), (BY_LIKENESS,)]
    found = match([*old, under(large, "b.amdgcn")], [under(small, "b.amdgcn"), under(large, "b.amdgcn")])
    assert all(m.notes == (BY_LIKENESS,) for m in found if m.old is not None and m.new is not None)


def test_a_single_entry_without_specialisation_is_paired_by_name(made) -> None:
    bare = made.without(made.kernel(), specialization=UNSET)
    assert _pairs(match([bare], [made.kernel()])) == [(0, 0)]


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6))
def test_every_entry_is_in_exactly_one_pair(made, left: list[int], right: list[int]) -> None:
    old = [made.kernel(constexprs={"BLOCK": n}) for n in left]
    new = [made.kernel(constexprs={"BLOCK": n}) for n in right]
    found = match(old, new)
    assert sorted(m.old for m in found if m.old is not None) == list(range(len(old)))
    assert sorted(m.new for m in found if m.new is not None) == list(range(len(new)))
    mirrored = match(new, old)
    assert len(mirrored) == len(found)


def test_loops_are_paired_by_source_lines(made) -> None:
    old = [made.loop(10, 20), made.loop(40, 50)]
    new = [made.loop(38, 52, header="x"), made.loop(10, 22, header="y"), made.loop(90, 95)]
    assert pair_loops(old, new) == [(old[0], new[1]), (old[1], new[0]), (None, new[2])]


def test_of_loops_on_the_same_lines_the_one_with_the_same_work_matches(made) -> None:
    main, rest = made.loop(10, 20, flops=4096), made.loop(10, 20, flops=128, hot=False)
    assert pair_loops([main, rest], [rest, main]) == [(main, main), (rest, rest)]


def test_a_kernel_that_moved_in_its_file_keeps_its_loops(made) -> None:
    old = [made.loop(20, 30, flops=0), made.loop(31, 35, flops=0)]
    new = [made.loop(31, 41, flops=0), made.loop(42, 46, flops=0)]
    assert pair_loops(old, new, moved=11) == list(zip(old, new, strict=True))


def test_a_loop_that_was_written_anew_elsewhere_goes_by_its_work(made) -> None:
    old, new = made.loop(20, 30), made.loop(120, 130)
    assert pair_loops([old], [new]) == [(old, new)]
    other = made.loop(120, 130, flops=8)
    assert pair_loops([old], [other]) == [(old, None), (None, other)]


def test_loops_without_lines_go_by_order(made) -> None:
    loops = [made.loop(lines={}, header=name, flops=0, bytes_per_wave={}) for name in "ab"]
    assert pair_loops(loops, loops[:1]) == [(loops[0], loops[0]), (loops[1], None)]


def test_a_file_moved_to_another_folder_is_the_same(made) -> None:
    moved = made.loop(lines={"/elsewhere/gemm.py": (20, 30)})
    assert pair_loops([made.loop()], [moved]) == [(made.loop(), moved)]


@pytest.mark.parametrize(("apart", "paired"), [(1, True), (2, True), (3, False)])
def test_kernels_of_one_name_are_paired_where_half_of_what_they_say_is_the_same(made, apart, paired) -> None:
    """Of four constants; of one name alone any two are."""

    def kernel(first: int):
        return made.kernel(
            spec=Specialization(constexprs={name: first + (n < apart) * first for n, name in enumerate("ABCD")})
        )

    old = made.kernel(spec=Specialization(constexprs=dict.fromkeys("ABCD", 1)))
    far = made.kernel(spec=Specialization(constexprs=dict.fromkeys("ABCD", 7)))
    found = [pair for pair in match([old, far], [kernel(1)]) if pair.old == 0 and pair.new == 0]
    assert bool(found) is paired
    assert [pair.notes for pair in found] == [("the nearest specialisation: none is the same",)] * paired


def test_entries_that_say_nothing_of_themselves_are_alike(made) -> None:
    """The same name twice and no specialisation: paired all the same, by likeness."""
    left = [made.without(made.kernel(vgpr=n), specialization=UNSET) for n in (100, 50)]
    right = [made.without(made.kernel(vgpr=n), specialization=UNSET) for n in (50, 100)]
    assert len([pair for pair in match(left, right) if pair.old is not None and pair.new is not None]) == 2


def test_of_too_many_candidates_only_equal_ones_are_paired(made, monkeypatch) -> None:
    from kprof.diffing import pairing

    def kernels(*values: int) -> list[KernelReport]:
        return [made.kernel(spec=Specialization(constexprs={"A": v, "B": 1, "C": 1})) for v in values]

    for most, paired in ((4, 2), (3, 0)):
        monkeypatch.setattr(pairing, "_MOST_CANDIDATES", most)
        found = match(kernels(1, 2), kernels(3, 4))
        assert sum(pair.old is not None and pair.new is not None for pair in found) == paired


def test_files_of_loops_go_by_their_last_part_on_any_system(made) -> None:
    """Lines decide where the work is the same, and where it is not."""
    for folder in ("/elsewhere/gemm.py", "C:\\elsewhere\\gemm.py", "gemm.py"):
        old = [made.loop(20, 30), made.loop(40, 50)]
        new = [made.loop(lines={folder: (40, 50)}), made.loop(lines={folder: (20, 30)})]
        assert pair_loops(old, new) == [(old[0], new[1]), (old[1], new[0])]
        unlike = made.loop(lines={folder: (30, 44)}, flops=1)
        assert pair_loops(old[:1], [unlike]) == [(old[0], unlike)]
    elsewhere = made.loop(lines={"/src/other.py": (20, 30)}, flops=1)
    assert pair_loops([made.loop(20, 30)], [elsewhere]) == [(made.loop(20, 30), None), (None, elsewhere)]


def test_more_shared_lines_come_before_nesting_work_and_order(made) -> None:
    """Of 11 lines 9 are shared with the first and 10 with the second; then nesting decides, then work."""
    old = made.loop(20, 30)
    least, most = made.loop(22, 30), made.loop(21, 30, depth=2, innermost=False, flops=9)
    assert pair_loops([old], [least, most]) == [(old, most), (None, least)]
    deeper, outer, alike = made.loop(20, 30, depth=2), made.loop(20, 30, innermost=False), made.loop(20, 30, flops=700)
    assert pair_loops([old], [deeper, alike])[0] == (old, alike)
    assert pair_loops([old], [outer, alike])[0] == (old, alike)
    nearer = made.loop(20, 30, flops=1000)
    assert pair_loops([old], [alike, nearer])[0] == (old, nearer)


def test_half_of_the_work_is_alike_enough_without_lines(made) -> None:
    old = made.loop(20, 30)
    for flops, paired in ((512, True), (511, False), (2048, True), (2049, False)):
        new = made.loop(120, 130, flops=flops)
        assert (pair_loops([old], [new]) == [(old, new)]) is paired
    for other in (made.loop(120, 130, depth=2), made.loop(120, 130, innermost=False)):
        assert pair_loops([old], [other]) == [(old, None), (None, other)]


def test_lines_that_touch_are_shared(made) -> None:
    """One line of 21, with unlike work; the next one is not shared."""
    old = made.loop(20, 30)
    for first, paired in ((30, True), (31, False)):
        new = made.loop(first, 40, flops=1)
        assert (pair_loops([old], [new]) == [(old, new)]) is paired
        assert (pair_loops([new], [old]) == [(new, old)]) is paired


def test_the_only_entries_of_a_name_are_paired_however_much_they_differ(made) -> None:
    """And no others."""
    far = made.kernel(spec=Specialization(constexprs=dict.fromkeys("ABCD", 7)))
    old = [made.kernel(spec=Specialization(constexprs=dict.fromkeys("ABCD", n))) for n in (1, 2)]
    assert _pairs(match(old[:1], [far])) == [(0, 0)]
    assert _pairs(match(old, [far])) == [(0, None), (1, None), (None, 0)]
    assert _pairs(match([far], old)) == [(0, None), (None, 0), (None, 1)]


def test_a_specialisation_that_says_nothing_is_like_none(made) -> None:
    """Two that say nothing do not differ; half of it is the distance from one that says something."""
    silent = [made.without(made.kernel(), specialization=UNSET)] * 2
    assert _pairs(match(silent, [made.kernel(spec=Specialization())] * 2)) == [(0, 0), (1, 1)]
    speaking = [made.kernel(constexprs={"BLOCK": n}) for n in (1, 2)]
    assert _pairs(match(silent, speaking)) == [(0, 0), (1, 1)]


def test_of_alike_entries_equal_ones_are_paired_first_and_then_the_smallest_with_the_smallest(made) -> None:
    """By operations, then instructions, then registers."""
    bare = Specialization()

    def kernel(flops: int, count: int, vgpr: int):
        loops = [made.loop(flops=flops)]
        return made.kernel(spec=bare, loops=loops, instructions={"s_nop": count}, vgpr_allocated=vgpr)

    sizes = [(9, 1, 1), (1, 9, 1), (1, 1, 9)]
    old = [kernel(*size) for size in sizes]
    new = [kernel(f, n, v + 1) for f, n, v in (sizes[2], sizes[0], sizes[1])]
    assert _pairs(match(old, new)) == [(0, 1), (1, 2), (2, 0)]
    assert _pairs(match(old, [new[0], old[2], old[0]])) == [(0, 2), (1, 0), (2, 1)]


@pytest.mark.parametrize("hints", [{}, {"attributes": {"b_ptr": {}, "a_ptr": {}}}, {"environment": {"X": "1"}}])
def test_the_order_in_which_a_specialisation_is_written_does_not_matter(made, hints) -> None:
    """Nor do hints and the environment; without a note, so that nothing is guessed."""
    two = {"B": 2, "A": 1}

    def kernel(constexprs: dict[str, int], **more) -> KernelReport:
        return made.kernel(spec=Specialization(constexprs=constexprs, **more))

    found = match([kernel({"A": 1, "B": 2}), kernel({"A": 3, "B": 2})], [kernel(two | {"A": 3}, **hints), kernel(two)])
    assert [(pair.old, pair.new, pair.notes) for pair in found] == [(0, 1, ()), (1, 0, ())]


def test_a_specialisation_that_is_lacking_is_nearer_to_one_that_says_nothing(made) -> None:
    silent = made.without(made.kernel(), specialization=UNSET)
    said = [made.kernel(), made.kernel(spec=Specialization())]
    assert _pairs(match([silent], said)) == [(0, 1), (None, 0)]
    assert _pairs(match(said, [silent])) == [(0, None), (1, 0)]


@pytest.mark.parametrize(("apart", "paired"), [(4, True), (5, False)])
def test_nine_entries_of_which_five_differ_are_not_the_same_kernel(made, apart, paired) -> None:
    """4 of 9 are less than half, 5 of 9 more."""
    old = [made.kernel(spec=Specialization(constexprs=dict.fromkeys("ABCDEFGHI", n))) for n in (1, 50)]
    new = made.kernel(spec=Specialization(constexprs={name: 1 + (n < apart) for n, name in enumerate("ABCDEFGHI")}))
    assert _pairs(match(old, [new]))[0] == ((0, 0) if paired else (0, None))


def test_a_pair_that_may_be_none_says_so(made) -> None:
    twins = [made.kernel(spec=Specialization())] * 2
    words = "several entries have the same description: paired by similarity"
    assert [pair.notes for pair in match(twins, twins)] == [(words,), (words,)]
    assert [pair.notes for pair in match(twins, twins[:1])] == [(words,), ()]


def test_the_order_of_hints_does_not_make_two_kernels_differ_more(made) -> None:
    """Of two entries one differs: half of them. In another order the hint would be the second one."""

    def kernel(block: int, hint: dict[str, int]) -> KernelReport:
        return made.kernel(spec=Specialization(constexprs={"A": block}, attributes={"p": hint}))

    one, other = {"divisibility": 16, "pointer_range": 32}, {"pointer_range": 32, "divisibility": 16}
    old = [kernel(1, one), made.kernel(spec=Specialization(constexprs={"A": 7}, attributes={"q": {}}))]
    assert _pairs(match(old, [kernel(2, other)])) == [(0, 0), (1, None)]
