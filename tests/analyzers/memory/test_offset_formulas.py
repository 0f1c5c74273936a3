"""Offsets in LDS against the formulas of Triton's ``TritonGPUAttrDefs.td``, element by element."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.mlir.layouts import Blocked, PaddedShared, RotatingShared, SharedLinear, SwizzledShared
from kprof_analyzers.memory.linear_layout import UnknownLayoutError
from kprof_analyzers.memory.shared_offsets import is_linear, placement

POWERS = st.sampled_from([1, 2, 4, 8])


@given(POWERS, POWERS, POWERS, st.booleans(), st.sampled_from([(0, 1), (1, 0)]))
def test_swizzled_vectors_move_to_the_phase_of_their_row(vec, per_phase, max_phase, rotating, order):
    """Vector c of row r is at c ^ phase, phase = r / per_phase % max_phase; rotated, also ^ the block of phases."""
    shape = (32, 64)
    fast, slow = order
    place = placement((RotatingShared if rotating else SwizzledShared)(vec, per_phase, max_phase, order), shape)
    for element in itertools.product(range(32), range(64)):
        row, column = element[slow], element[fast]
        phase = row // per_phase % max_phase
        if rotating and max_phase > 1:
            phase ^= row // (per_phase * max_phase) % max_phase
        vector = (column // vec ^ phase) % (shape[fast] // vec)
        assert place(element) == row * shape[fast] + vector * vec + column % vec


@pytest.mark.parametrize("layout", [SwizzledShared(2, 1, 4, (2, 1, 0)), PaddedShared(((1 << 20, 8),), (2, 1, 0))])
def test_a_third_dimension_counts_whole_matrices(layout):
    """Rows, which decide the phase, are the second fastest axis."""
    place, matrix = placement(layout, (4, 8, 16)), placement(SwizzledShared(2, 1, 4, (1, 0)), (8, 16))
    for batch, row, column in itertools.product(range(4), range(8), range(16)):
        inside = row * 16 + column if isinstance(layout, PaddedShared) else matrix((row, column))
        assert place((batch, row, column)) == batch * 128 + inside


def test_a_buffer_of_one_dimension_has_no_rows_to_swizzle():
    place = placement(SwizzledShared(2, 1, 4, (0,)), (64,))
    assert [place((index,)) for index in range(64)] == list(range(64))


@given(st.lists(st.tuples(st.sampled_from([8, 16, 32]), st.integers(1, 8)), min_size=1, max_size=2), st.booleans())
def test_padding_counts_the_ends_of_intervals_that_were_passed(paddings, columns_first):
    """Written out: walk through the buffer, and skip the padding at the end of each interval."""
    order = (1, 0) if columns_first else (0, 1)
    place = placement(PaddedShared(tuple(paddings), order), (4, 16))
    at = 0
    for index in range(64):
        if index:
            at += 1 + sum(padding for interval, padding in paddings if index % interval == 0)
        slow, fast = divmod(index, 16 if columns_first else 4)
        assert place((slow, fast) if columns_first else (fast, slow)) == at


def walk(bases):
    """Element to the first offset that leads there, by trying every offset."""
    found = {}
    for offset in range(1 << len(bases)):
        at = [0] * len(bases[0])
        for bit, basis in enumerate(bases):
            if offset >> bit & 1:
                at = [a ^ b for a, b in zip(at, basis, strict=True)]
        found.setdefault(tuple(at), offset)
    return found


@st.composite
def invertible(draw):
    """Bases that reach each element of a buffer of 4 x 8 exactly once: unit vectors, combined and shuffled."""
    bases = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]]
    for target, source in draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)):
        if target != source:
            bases[target] = [a ^ b for a, b in zip(bases[target], bases[source], strict=True)]
    return tuple(tuple(basis) for basis in draw(st.permutations(bases)))


@given(invertible(), st.integers(0, 5))
def test_bases_are_inverted_as_trying_every_offset_does(bases, unused):
    """Also where an offset bit does not count."""
    bases = (*bases[:unused], (0, 0), *bases[unused:])
    place, expected = placement(SharedLinear(bases), (4, 8)), walk(bases)
    assert len(expected) == 32
    assert {element: place(element) for element in expected} == expected


@given(invertible())
def test_padding_of_a_buffer_with_bases_follows_their_offsets(bases):
    place, expected = placement(PaddedShared(((8, 4),), offset=bases), (4, 8)), walk(bases)
    assert {element: place(element) for element in expected} == {e: o + o // 8 * 4 for e, o in expected.items()}


def test_bases_that_depend_on_each_other_count_once():
    """The third is the exclusive-or of the first two: three bases reach four elements."""
    with pytest.raises(UnknownLayoutError) as caught:
        placement(SharedLinear(((1,), (2,), (3,))), (8,))
    assert str(caught.value) == "the layout's bases do not reach every element"
    place = placement(SharedLinear(((1,), (2,), (3,), (4,))), (8,))
    assert [place((index,)) for index in range(8)] == [0, 1, 2, 3, 8, 9, 10, 11]


def test_an_element_outside_of_the_buffer_has_no_offset():
    with pytest.raises(UnknownLayoutError) as caught:
        placement(SharedLinear(((1,), (2,))), (4,))((4,))
    assert str(caught.value) == "an element is outside what the layout's bases reach"


@pytest.mark.parametrize(
    "layout", [SwizzledShared(1, 1, 1, (1, 0)), PaddedShared(((8, 4),), (1, 0)), SharedLinear(((1, 0), (0, 1)))]
)
@pytest.mark.parametrize("element", [(1,), (1, 0, 1)])
def test_an_element_of_another_rank_has_no_offset(layout, element):
    with pytest.raises(ValueError, match="zip"):
        placement(layout, (2, 2))(element)


@pytest.mark.parametrize(
    ("layout", "shape", "words"),
    [
        (Blocked((1,), (64,), (4,), (0,)), (64,), "Blocked is not a shared layout that is known here"),
        (SwizzledShared(1, 1, 1, (1, 0)), (64,), "SwizzledShared has more dimensions than the 1 of its buffer"),
        (PaddedShared(((8, 4),), (2, 1, 0)), (8, 8), "PaddedShared has more dimensions than the 2 of its buffer"),
    ],
)
def test_what_cannot_be_placed_is_named(layout, shape, words):
    with pytest.raises(UnknownLayoutError) as caught:
        placement(layout, shape)
    assert str(caught.value) == words


@given(
    st.sampled_from([SwizzledShared, RotatingShared]),
    st.tuples(*[st.integers(0, 9)] * 3),
    st.tuples(*[st.integers(0, 64)] * 2),
)
def test_a_swizzle_of_powers_of_two_alone_is_linear(kind, numbers, shape):
    """Powers of two are those of a list."""
    powers = all(number in {1, 2, 4, 8, 16, 32, 64} for number in (*numbers, *shape))
    assert is_linear(kind(*numbers, (1, 0)), shape) == powers


def test_bases_are_linear_and_padding_is_not():
    assert is_linear(SharedLinear(((1,), (2,))), (4,))
    assert is_linear(RotatingShared(4, 2, 8, (1, 0)), (64, 1))
    assert not is_linear(SwizzledShared(0, 1, 1, (0,)), (64,))
    assert not is_linear(SwizzledShared(1, 1, 3, (0,)), (64,))
    assert not is_linear(PaddedShared(((8, 4),), (0,)), (64,))
