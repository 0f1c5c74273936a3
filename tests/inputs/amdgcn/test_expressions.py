"""Assembler expressions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.amdgcn.expressions import evaluate

SYMBOLS = {".Lf.num_vgpr": "37", ".Lk.num_vgpr": "max(9, .Lf.num_vgpr)", ".Lk.num_agpr": "5", "a": "b+1", "b": "a+1"}


@pytest.mark.parametrize(
    ("text", "arch", "value"),
    [
        ("128", "gfx942", 128),
        ("0x10+2*3", "gfx942", 22),
        ("(1+2)*3-4", "gfx942", 5),
        ("max(totalnumvgprs(.Lk.num_agpr, .Lk.num_vgpr), 1, 0)", "gfx942", 45),
        ("totalnumvgprs(.Lk.num_agpr, .Lk.num_vgpr)", "gfx908", 37),
        ("alignto(13, 8)", "gfx942", 16),
        ("or(1, 4)", "gfx942", 5),
        ("10+extrasgprs(1, 0, 0)", "gfx908", 12),
        ("10+extrasgprs(1, 0, 1)", "gfx908", 14),
        ("10+extrasgprs(1, 1, 0)", "gfx908", 16),
        ("10+extrasgprs(1, 0, 0)", "gfx942", 16),
        ("10+extrasgprs(1, 1, 1)", "gfx1100", 12),
        ("(5 > 3) && (2 == 2)", "gfx942", 1),
        ("a", "gfx942", None),
        ("missing", "gfx942", None),
        ("1+", "gfx942", None),
        ("f(1)", "gfx942", None),
        ("1/0", "gfx942", 0),
        ("(" * 5000, "gfx942", None),
        ("-" * 5000 + "1", "gfx942", None),
    ],
)
def test_evaluate(text: str, arch: str, value: int | None) -> None:
    """Arithmetic, LLVM's functions, symbols, and what cannot be determined."""
    assert evaluate(text, SYMBOLS, arch) == value


def test_symbols_that_grow_without_end_are_given_up() -> None:
    """Symbols that each double the next are worked out once each; a chain of sixty is refused."""
    symbols = {f"s{n}": f"s{n + 1}+s{n + 1}" for n in range(60)} | {"s60": "1"}
    assert evaluate("s50", symbols, "gfx942") == 2**10
    assert evaluate("s0", symbols, "gfx942") is None


LEAVES = st.integers(0, 1000).map(str)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
    max_leaves=6,
)


@given(TREES)
def test_arithmetic_is_pythons(text: str) -> None:
    """Fully bracketed sums and products have the value that Python gives them."""
    assert evaluate(text, {}, "gfx942") == eval(text)


@given(st.text(alphabet="0123()+-*/max,.L<>=&| ", max_size=80))
def test_any_text_is_survived(text: str) -> None:
    """Hostile text gives a number or None."""
    value = evaluate(text, {"x": "1"}, "gfx942")
    assert value is None or isinstance(value, int)
