"""How values are written: the same on the command line, in Python, in ``kprof.toml`` and for agents."""

from dataclasses import FrozenInstanceError, asdict, replace

import pytest

import kprof
from kprof.errors import KprofError
from kprof.options.groups import CompileOptions
from kprof.options.searches import AdviseOptions, TuneOptions
from kprof.options.tools import LayoutOptions


@pytest.mark.parametrize(
    ("given", "axes"),
    [
        ("64;32", (64, 32)),
        ("64,32", (64, 32)),
        ((64, 32), (64, 32)),
        (4096, (4096,)),
        ("cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)", ("cdiv(M,BLOCK_M)", "cdiv(N,BLOCK_N)")),
        ("cdiv(M,BLOCK_M),cdiv(N,BLOCK_N),4", ("cdiv(M,BLOCK_M)", "cdiv(N,BLOCK_N)", 4)),
        (None, ()),
        ((), ()),
    ],
)
def test_a_grid_has_one_grammar(given: object, axes: tuple[object, ...]) -> None:
    """Numbers and formulas, for what analyses and for what searches; read again it is itself."""
    for group in (CompileOptions, AdviseOptions, TuneOptions):
        found = group(grid=given).grid
        assert found == axes
        assert group(grid=found).grid == axes


@pytest.mark.parametrize("given", ["", "0", "1,2,3,4", "64;;2", "cdiv(", (0,), (-1, 2), "__import__('os')"])
def test_a_grid_that_cannot_be(given: object) -> None:
    """One message that names the option."""
    with pytest.raises(KprofError, match="--grid"):
        CompileOptions(grid=given)


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        ("M=4096,dtype=fp16", ({"M": 4096, "dtype": "fp16"},)),
        (["M=1,N=2", "M=3"], ({"M": 1, "N": 2}, {"M": 3})),
        ("M=1,N=2;M=3", ({"M": 1, "N": 2}, {"M": 3})),
        ({"M": 4096}, ({"M": 4096},)),
        ([{"M": 1}, {"M": 2}], ({"M": 1}, {"M": 2})),
        (None, ()),
        ({}, ()),
    ],
)
def test_shapes_have_one_grammar(given: object, problems: tuple[object, ...]) -> None:
    """A problem is a mapping or text, several are a sequence, or text with semicolons."""
    assert TuneOptions(shape=given).shape == CompileOptions(shape=given).shape == problems


def test_one_problem_is_one() -> None:
    """Where a single problem is taken, two are an error."""
    assert CompileOptions(shape="M=1").sizes == {"M": 1}
    with pytest.raises(KprofError, match="several problems"):
        _ = CompileOptions(shape=["M=1", "M=2"]).sizes


def test_other_values() -> None:
    """Text and Python values mean the same."""
    assert CompileOptions(arch="MI300X, gfx950").arch == CompileOptions(arch=["MI300X", "gfx950"]).arch
    assert CompileOptions(config="A=1,B=x").config == CompileOptions(config={"A": 1, "B": "x"}).config
    assert CompileOptions(env={"A": 1}).env == {"A": "1"}
    assert TuneOptions(case=["a", "b"]).case == "a,b"
    assert LayoutOptions(size="64x32").size == LayoutOptions(size=(64, 32)).size
    assert TuneOptions(budget=0).seconds > 1e9


def test_limits_are_checked_wherever_a_value_comes_from() -> None:
    """The command line checks them too; Python gets the same sentence."""
    with pytest.raises(KprofError, match="--short-list is 0: it must be at least 1 and at most 1000"):
        TuneOptions(short_list=0)
    with pytest.raises(KprofError, match="--budget is nan"):
        kprof.advise("softmax", budget=float("nan"))
    with pytest.raises(KprofError, match="--fail-on takes note, warning, error or never, got 'fatal'"):
        kprof.analyze("softmax", fail_on="fatal")
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'bugdet'"):
        kprof.advise("softmax", bugdet=3)


def test_groups_are_frozen_and_passed_on() -> None:
    """What is narrower is part of what is wider; copies are read again."""
    wide = TuneOptions(arch="MI300X", config="A=1", budget=5)
    with pytest.raises(FrozenInstanceError):
        wide.budget = 3  # type: ignore[misc]
    narrow = wide.part(CompileOptions)
    assert type(narrow) is CompileOptions
    assert narrow == CompileOptions(arch=["MI300X"], config={"A": 1})
    assert replace(wide, arch="gfx950").arch == ("gfx950",)
    assert CompileOptions(**asdict(narrow)) == narrow
    assert wide.given() == {"arch": ("MI300X",), "config": {"A": 1}, "budget": 5}
    with pytest.raises(TypeError, match="TuneOptions has no option bugdet"):
        TuneOptions(bugdet=1)
