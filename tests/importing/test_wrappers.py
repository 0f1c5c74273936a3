"""Whatever is wrapped around a Triton function, it is found, named, and found again under that name."""

import re
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.importing.functions import find_entry, load_function, place_of, triton_functions, unwrap
from kprof.importing.loading import load_module
from kprof.importing.wrappers import (
    configs_of,
    heuristics_of,
    is_interpreted,
    is_jit,
    jit_function,
    kernel_function,
    layers,
    source_function,
)
from kprof.targets.library import load

HEAD = """
import functools
import triton
import triton.language as tl
from triton.experimental import gluon


class Wrapper:
    def __init__(self, fn):
        self.fn = fn

    def __getitem__(self, grid):
        return self.fn[grid]


def wrapped(fn):
    @functools.wraps(fn)
    def call(*args):
        return fn[(1,)](*args)
    call.__wrapped__ = fn
    return call


def make(flag):
    @triton.jit
    def inner(x):
        pass
    return inner

"""

# How a user may come by a Triton function called NAME.
FORMS = {
    "plain": "@triton.jit\ndef NAME(x):\n    pass\n",
    "gluon": "@gluon.jit\ndef NAME(x):\n    pass\n",
    "autotuned": "@triton.autotune(configs=[triton.Config({'B': 64})], key=[])\n"
    "@triton.jit\ndef NAME(x, B: tl.constexpr):\n    pass\n",
    "heuristics": "@triton.heuristics({'B': lambda args: 64})\n@triton.jit\ndef NAME(x, B: tl.constexpr):\n    pass\n",
    "class with fn": "@Wrapper\n@triton.jit\ndef NAME(x):\n    pass\n",
    "functools.wraps": "@wrapped\n@triton.jit\ndef NAME(x):\n    pass\n",
    "twice": "@Wrapper\n@wrapped\n@Wrapper\n@triton.jit\ndef NAME(x):\n    pass\n",
    "called": "def slow_NAME(x):\n    pass\n\nNAME = triton.jit(slow_NAME)\n",
    "called twice": "def base_NAME(x):\n    pass\n\nNAME = triton.jit(base_NAME)\n"
    "NAME_2 = triton.jit(base_NAME, noinline=True)\n",
    "factory": "NAME = make(1)\n",
    "not one": "def NAME(x):\n    pass\n",
}

modules = st.lists(
    st.tuples(st.sampled_from(sorted(FORMS)), st.sampled_from(["a", "b", "c", "d_e"])),
    min_size=1,
    max_size=5,
    unique_by=lambda pair: pair[1],
)

pytestmark = pytest.mark.triton


@settings(max_examples=60, deadline=None)
@given(modules)
def test_every_name_that_is_offered_can_be_loaded(made: list[tuple[str, str]]) -> None:
    """Hints, lists and requests name functions by what loads them, and a request's name leads to the same function."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "user.py")
        path.write_text(HEAD + "\n".join(FORMS[form].replace("NAME", name) for form, name in made))
        module = load_module(path)
        names = triton_functions(module)

        assert {name for form, name in made if form != "not one"} <= set(names)
        for name in (*names, *offered(path)):
            entry = find_entry(module, path, name)
            jit = jit_function(entry)
            assert load_function(path, name).jit is jit
            assert jit_function(load(f"{path}::{name}").entry) is jit
            file, place = place_of(jit)
            assert load_function(file, place).jit is jit
            assert unwrap(entry).name == place


def offered(path: Path) -> list[str]:
    """The names in the hint for a name that is not there, and in the one for no name."""
    with pytest.raises(KprofError) as caught:
        load_function(path, "zzzzzzzz")
    listed: list[str] = re.findall(r"\w+", str(caught.value.hint).partition("functions are")[2])
    try:
        load(str(path))
    except KprofError as error:
        listed += re.findall(r"::(\w+)", str(error.hint))
    return listed


def test_wrapper_of_a_user_is_no_reason_to_refuse(tmp_path: Path) -> None:
    """A class with the function in ``fn`` is looked through by every command alike, with the autotuner inside it."""
    path = tmp_path / "user.py"
    path.write_text(HEAD + "@Wrapper\n" + FORMS["autotuned"].replace("NAME", "kernel"))

    assert load(f"{path}::kernel").name == "kernel"
    assert unwrap(load(f"{path}::kernel").entry).configs == [
        {"B": 64, "num_warps": 4, "num_stages": load_function(path, "kernel").configs[0]["num_stages"], "num_ctas": 1}
    ]


def test_function_of_a_factory_is_named_by_what_holds_it(tmp_path: Path) -> None:
    """``inner`` is made inside ``make``: its own name has ``<locals>``, the variable's can be loaded."""
    path = tmp_path / "user.py"
    path.write_text(HEAD + FORMS["factory"].replace("NAME", "kernel"))

    assert place_of(load_function(path, "kernel").jit) == (path, "kernel")


def test_function_that_another_file_made_has_no_line_here(tmp_path: Path) -> None:
    """A line number of the factory's file would point at something else in the user's."""
    (tmp_path / "kprof_test_factory.py").write_text(HEAD)
    path = tmp_path / "user.py"
    path.write_text("from kprof_test_factory import make\nkernel = make(1)\n")
    function = load_function(path, "kernel")

    assert place_of(function.jit) == (path, "kernel")
    assert function.line is None


def test_objects_that_answer_to_every_name_are_no_functions() -> None:
    """``torch.ops`` and mocks have any attribute that they are asked for; others raise."""

    class Anything:
        def __getattr__(self, name: str) -> "Anything":
            return self

    class Refusing:
        @property
        def fn(self) -> None:
            raise ValueError("not now")

    for value in (Anything(), Refusing(), SimpleNamespace(fn=3), None, type, pytest, "text"):
        assert kernel_function(value) is None


class StandIn:
    """An object with the attributes of a Triton function."""

    def __init__(self):
        self.params = []
        self.starting_line_number = 3


def around(inner, name="fn", **more):
    """A wrapper that keeps what it is around under a name."""
    return SimpleNamespace(**{name: inner}, **more)


def test_layers_are_looked_through_from_the_outside_in():
    """Under either name, to the function and no further; of neither name, of nothing and of a class there are none."""
    jit = StandIn()
    jit.fn = around(StandIn())
    inner = around(jit, "__wrapped__")
    outer = around(inner)
    assert list(layers(outer)) == [outer, inner, jit]
    assert kernel_function(outer) is jit_function(outer) is jit
    assert list(layers(3)) == [3]
    assert list(layers(None)) == list(layers(StandIn)) == list(layers(pytest)) == []
    assert kernel_function(3) is None


def test_eight_layers_are_looked_through():
    """A wrapper around itself ends, too."""
    value = StandIn()
    for _ in range(7):
        value = around(value)
    assert jit_function(value) is not None
    assert jit_function(around(value)) is None
    itself = SimpleNamespace()
    itself.fn = itself
    assert len(list(layers(itself))) == 8


@pytest.mark.parametrize(
    ("params", "line", "is_one"), [([], 3, True), ((), 3, False), ([], "3", False), ([], None, False)]
)
def test_a_triton_function_has_parameters_and_a_line(params, line, is_one):
    assert is_jit(SimpleNamespace(params=params, starting_line_number=line)) is is_one


def test_an_interpreted_function_is_found_and_not_compiled(monkeypatch):
    """By its type, which only Triton's interpreter has."""

    class InterpretedFunction:
        """As Triton has it."""

    value = InterpretedFunction()
    monkeypatch.delitem(sys.modules, "triton.runtime.interpreter", raising=False)
    assert not is_interpreted(value)
    monkeypatch.setitem(
        sys.modules, "triton.runtime.interpreter", SimpleNamespace(InterpretedFunction=InterpretedFunction)
    )
    assert is_interpreted(value)
    assert kernel_function(around(value)) is value
    assert jit_function(around(value)) is None
    monkeypatch.setitem(sys.modules, "triton.runtime.interpreter", SimpleNamespace())
    assert not is_interpreted(value)


def test_functions_with_source():
    """A Triton function, or text with Python's function inside; either alone is none."""
    jit = StandIn()
    assert source_function(around(jit)) is jit
    evaluated = SimpleNamespace(src="def f(): pass", fn=around)
    assert source_function(evaluated) is evaluated
    assert source_function(SimpleNamespace(src=3, fn=around)) is None
    assert source_function(SimpleNamespace(src="def f(): pass", fn=3)) is None
    assert source_function(SimpleNamespace(src="def f(): pass")) is None


def test_configurations_and_heuristics_of_all_layers():
    """The outer ones first; what only looks like them is none."""
    config = SimpleNamespace(kwargs={"BLOCK": 64}, num_warps=4, num_stages=2, num_ctas=1, maxnreg=None)
    other = SimpleNamespace(kwargs={"BLOCK": 128}, num_warps=8, num_stages=None, maxnreg=96)
    inner = around(StandIn(), configs=(other, SimpleNamespace(kwargs=3)), values={"EVEN": len})
    outer = around(inner, configs=[config], values={"SMALL": abs})
    assert configs_of(outer) == [
        {"BLOCK": 64, "num_warps": 4, "num_stages": 2, "num_ctas": 1},
        {"BLOCK": 128, "num_warps": 8, "maxnreg": 96},
    ]
    assert list(heuristics_of(outer)) == [("SMALL", abs), ("EVEN", len)]
    assert configs_of(around(StandIn(), configs="none")) == []
    assert list(heuristics_of(around(StandIn(), values=[1]))) == []


def test_an_object_that_raises_when_it_is_asked_is_no_function():
    class Raising:
        def __getattr__(self, name):
            raise RuntimeError(name)

    assert kernel_function(Raising()) is None
    assert configs_of(Raising()) == []
