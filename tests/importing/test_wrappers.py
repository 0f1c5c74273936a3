"""Whatever is wrapped around a Triton function, it is found, named, and found again under that name."""

import re
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.importing.functions import find_entry, load_function, place_of, triton_functions, unwrap
from kprof.importing.loading import load_module
from kprof.importing.wrappers import jit_function, kernel_function
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
