"""Placement in LDS against Triton's own conversion, and bank conflicts against measurements."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.hardware.machine import load
from kprof.inputs.mlir.layouts import Blocked, PaddedShared, SharedLinear, SwizzledShared
from kprof_analyzers.memory.bank_conflicts import BankCost, PhasesUnknownError, access_cost
from kprof_analyzers.memory.linear_layout import UnknownLayoutError
from kprof_analyzers.memory.shared_offsets import is_linear, placement


@pytest.fixture(scope="module")
def builder():
    """Triton's layout builder."""
    triton = pytest.importorskip("triton")
    from triton._C.libtriton import amd, ir

    if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 9):
        pytest.skip("this Triton's layout builder takes other arguments")
    from triton._C.libtriton import gluon_ir

    context = ir.context()
    ir.load_dialects(context)
    amd.load_dialects(context)
    yield gluon_ir.GluonOpBuilder(context)  # noqa: PT022 - the context must outlive it


@pytest.mark.triton
def test_swizzled_placement_agrees_with_triton(builder):
    """Each offset leads to the element that Triton puts there."""
    compared = 0
    for vec, per_phase, max_phase, order in itertools.product((1, 4, 8), (1, 2, 4), (1, 4, 8), ((0, 1), (1, 0))):
        shape = (32, 64)
        attribute = builder.get_swizzled_shared_layout(vec, per_phase, max_phase, list(order), [])
        oracle = builder.to_linear_layout(attribute, list(shape))
        if not hasattr(oracle, "offset_bases"):
            continue
        ours = placement(SwizzledShared(vec, per_phase, max_phase, order), shape)
        theirs = placement(SharedLinear(tuple(map(tuple, oracle.offset_bases))), shape)
        for element in itertools.product(range(32), range(64)):
            assert ours(element) == theirs(element), (vec, per_phase, max_phase, order, element)
        for bit, basis in enumerate(oracle.offset_bases):
            assert ours(tuple(basis)) == 1 << bit
        compared += 1
    assert compared == 54


@given(st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4, 8]), st.booleans())
def test_no_two_elements_share_a_place(vec, per_phase, max_phase, rows_first):
    """A swizzle is a permutation of the buffer."""
    order = (0, 1) if rows_first else (1, 0)
    place = placement(SwizzledShared(vec, per_phase, max_phase, order), (16, 64))
    offsets = {place(element) for element in itertools.product(range(16), range(64))}
    assert offsets == set(range(16 * 64))


def test_padding_is_added_after_every_interval():
    """Eight elements after every 64."""
    place = placement(PaddedShared(((64, 8),), (1, 0)), (4, 64))
    assert [place((row, 0)) for row in range(4)] == [0, 72, 144, 216]


def test_a_register_layout_is_refused():
    """Only shared layouts have a place in LDS."""
    with pytest.raises(UnknownLayoutError):
        placement(Blocked((1, 1), (8, 8), (4, 1), (1, 0)), (64, 64))


@pytest.mark.parametrize(("width", "measured"), [(4, 62), (8, 60), (16, 56)])
def test_worst_case_is_the_measured_one(width, measured):
    """All lanes of an MI300X in one bank: published measurements give 62, 60 and 56 extra cycles."""
    addresses = [lane * 32 * 4 for lane in range(64)]
    assert access_cost(addresses, width, load("gfx942")).conflicts == measured


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1100", "gfx1201"])
@pytest.mark.parametrize("width", [4, 8, 16])
def test_a_contiguous_read_has_no_conflict(arch, width):
    """Neighbouring lanes read neighbouring addresses."""
    machine = load(arch)
    addresses = [lane * width for lane in range(machine.wavefront_size)]
    assert access_cost(addresses, width, machine).conflicts == 0


def test_one_address_for_all_lanes_is_a_broadcast():
    """Lanes that read the same dword share it, and lanes that are off do not count."""
    machine = load("gfx942")
    assert access_cost([128] * 64, 4, machine) == BankCost(2, 0)
    assert access_cost([None] * 64, 4, machine) == BankCost(2, 0)


def test_costs_add_up():
    """Two instructions in a row."""
    assert BankCost(2, 3) + BankCost(4, 0) == BankCost(6, 3)


def test_unknown_groups_are_said():
    """No guess where nobody has measured."""
    with pytest.raises(PhasesUnknownError, match="gfx908"):
        access_cost([0] * 64, 16, load("gfx908"))


@given(st.lists(st.integers(0, 4095).map(lambda d: 4 * d), min_size=64, max_size=64))
def test_conflicts_are_those_of_a_cycle_by_cycle_simulation(addresses):
    """Brute force: in each cycle a bank serves one of the dwords still wanted in the phase."""
    machine = load("gfx942")
    extra = 0
    for lanes in (range(32), range(32, 64)):
        pending = {addresses[lane] // 4 for lane in lanes}
        cycles = 0
        while pending:
            served: dict[int, int] = {}
            for dword in sorted(pending):
                served.setdefault(dword % 32, dword)
            pending -= set(served.values())
            cycles += 1
        extra += cycles - 1
    assert access_cost(addresses, 4, machine).conflicts == extra


POWERS = st.sampled_from([1, 2, 4, 8])


@given(
    layout=st.builds(SwizzledShared, POWERS, POWERS, POWERS, st.sampled_from([(0, 1), (1, 0)])),
    shape=st.tuples(st.sampled_from([16, 32]), st.sampled_from([16, 64])),
    data=st.data(),
)
def test_offsets_of_a_linear_layout_are_combined_by_exclusive_or(layout, shape, data):
    """What conflicts are counted with; sizes that are no powers of two are not called linear."""
    assert is_linear(layout, shape)
    place = placement(layout, shape)
    one, other = (tuple(data.draw(st.integers(0, size - 1)) for size in shape) for _ in range(2))
    assert place(tuple(a ^ b for a, b in zip(one, other, strict=True))) == place(one) ^ place(other)
    assert not is_linear(layout, (24, 64))
    assert not is_linear(PaddedShared(((512, 16),), (1, 0)), shape)
