"""Integer operations of the TTGIR, by their definitions in MLIR's arith dialect, worked out by other means."""

import math
from fractions import Fraction
from itertools import product

import pytest

from kprof.inputs import mlir
from kprof_analyzers.model.arithmetic import AXES, BINARY, COMPARE, PURE, SAME
from kprof_analyzers.model.scalars import Evaluator

NUMBERS = (-9, -8, -3, -1, 0, 1, 2, 3, 7, 8)
NAMES = {
    "arith": [
        *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"),
        *("andi", "ori", "xori", "shli", "shrsi", "shrui", "minsi", "minui", "maxsi", "maxui"),
    ],
    "tt": ["addptr"],
}
TWO_OPERANDS = {f"{dialect}.{name}" for dialect, names in NAMES.items() for name in names}
# Operations whose result has the value of their first operand, as far as a tile's first element is concerned.
UNCHANGED = {
    *("tt.splat", "tt.unsplat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.bitcast"),
    *("ttg.convert_layout", "arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast"),
}


def by_definition(name: str, a: int, b: int) -> int:
    """The result of a division or a bitwise operation, without Python's operator for it."""
    rounding = {"divsi": math.trunc, "floordivsi": math.floor, "ceildivsi": math.ceil}
    if name in rounding:
        return rounding[name](Fraction(a, b))
    if name == "remsi":
        return a - b * math.trunc(Fraction(a, b))
    # Bit by bit in two's complement: eight bits hold all of the numbers.
    bits = {
        "andi": lambda x, y: x + y == 2,
        "ori": lambda x, y: x + y > 0,
        "xori": lambda x, y: x + y == 1,
    }[name]
    found = sum(1 << at for at in range(8) if bits(a % 256 // 2**at % 2, b % 256 // 2**at % 2))
    return found - 256 if found >= 128 else found


def test_the_operations_are_those_that_are_named_here():
    assert set(BINARY) == TWO_OPERANDS
    assert UNCHANGED | {"amdg.masked_load"} == SAME


@pytest.mark.parametrize("name", ["divsi", "floordivsi", "ceildivsi", "remsi"])
def test_divisions_round_as_their_names_say(name):
    for a, b in product(NUMBERS, NUMBERS):
        if b:
            assert BINARY[f"arith.{name}"](a, b) == by_definition(name, a, b)


@pytest.mark.parametrize(("unsigned", "signed"), [("divui", "divsi"), ("remui", "remsi"), ("ceildivui", "ceildivsi")])
def test_unsigned_divisions_are_the_same_where_nothing_is_negative(unsigned, signed):
    for a, b in product(range(9), range(1, 9)):
        assert BINARY[f"arith.{unsigned}"](a, b) == by_definition(signed, a, b)


@pytest.mark.parametrize("name", ["divsi", "divui", "floordivsi", "ceildivsi", "ceildivui"])
def test_a_division_by_zero_is_no_crash(name):
    """The program never does one; an evaluator that looks at a branch that is not taken may."""
    assert BINARY[f"arith.{name}"](5, 0) == 0


@pytest.mark.parametrize("name", ["andi", "ori", "xori"])
def test_bitwise_operations_work_bit_by_bit(name):
    for a, b in product(NUMBERS, NUMBERS):
        assert BINARY[f"arith.{name}"](a, b) == by_definition(name, a, b)


def test_shifts_multiply_and_divide_by_powers_of_two():
    """Also beyond 32 bits; a shift by more than the 64 bits of the widest integer builds no huge number."""
    for a, b in product(NUMBERS, (0, 1, 2, 40)):
        assert BINARY["arith.shli"](a, b) == a * 2**b
        assert BINARY["arith.shrsi"](a, b) == math.floor(Fraction(a, 2**b))
        assert BINARY["arith.shrui"](abs(a), b) == abs(a) // 2**b
    for shift in (64, 65, 10_000):
        assert BINARY["arith.shli"](1, shift) == 2**64
        assert (BINARY["arith.shrsi"](2**70, shift), BINARY["arith.shrui"](2**70, shift)) == (2**6, 2**6)
    for name in ("shli", "shrsi", "shrui"):
        assert BINARY[f"arith.{name}"](12, -1) == 12


def test_sums_products_and_extremes():
    for a, b in product(NUMBERS, NUMBERS):
        larger, smaller = sorted((a, b), reverse=True)
        assert {BINARY["arith.minsi"](a, b), BINARY["arith.minui"](a, b)} == {smaller}
        assert {BINARY["arith.maxsi"](a, b), BINARY["arith.maxui"](a, b)} == {larger}
        assert BINARY["arith.addi"](a, b) - b == BINARY["tt.addptr"](a, b) - b == a
        assert BINARY["arith.subi"](a, b) + b == a
        assert BINARY["arith.muli"](a, b) == sum([a] * abs(b)) * (1 if b >= 0 else -1)


@pytest.mark.parametrize("sign", ["s", "u"])
def test_comparisons_hold_where_the_difference_has_their_sign(sign):
    """Signs of ``a - b`` for which each predicate of ``arith.cmpi`` is true."""
    true_for = {"lt": {-1}, "le": {-1, 0}, "gt": {1}, "ge": {0, 1}}
    assert set(COMPARE) == {"eq", "ne"} | {f"{s}{name}" for s in "su" for name in true_for}
    for a, b in product(NUMBERS, NUMBERS):
        difference = (a > b) - (a < b)
        for name, signs in true_for.items():
            assert COMPARE[f"{sign}{name}"](a, b) == (difference in signs)
        assert (COMPARE["eq"](a, b), COMPARE["ne"](a, b)) == (difference == 0, difference != 0)


def test_pure_operations_have_as_many_operands_as_mlir_gives_them():
    """Constants and program identifiers have none, casts one, ``cmpi`` two, ``select`` a condition and two values."""
    assert {name: count for name, count in PURE.items() if count == 0} == {
        "arith.constant": 0, "tt.make_range": 0, "tt.get_program_id": 0, "tt.get_num_programs": 0
    }  # fmt: skip
    assert {name for name, count in PURE.items() if count == 1} == UNCHANGED
    assert {name for name, count in PURE.items() if count == 2} == TWO_OPERANDS | {"arith.cmpi"}
    assert PURE["arith.select"] == 3
    # A condition, and the results of two regions: as many as the text has.
    assert PURE["scf.if"] >= 100


def test_program_identifiers_are_those_of_their_axis():
    """Workgroup 5 of a grid of 2 x 3 x 4 stands at (1, 2, 0)."""
    text = "\n".join(
        f"    %{a} = tt.get_program_id {a} : i32\n    %n{a} = tt.get_num_programs {a} : i32" for a in "xyz"
    )
    module = mlir.parse(f"module {{\n  tt.func public @k(%p: i32) {{\n{text}\n    tt.return\n  }}\n}}\n")
    found = Evaluator(module, {}, [(1, 2, 0)], (2, 3, 4))
    names = [name for op in module.operations for name in found.flow.results(op)]
    assert [found.value(name) for name in names] == [[1], 2, [2], 3, [0], 4]
    assert len(AXES) == 3
