"""A function that is given as an object is compiled as it is in memory, or refused with the name that differs.

The oracle of each change is a file that says the same.
"""

import importlib
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kprof.errors import KprofError
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load

pytestmark = pytest.mark.triton
pytest.importorskip("triton")

HELPER = """import triton
import triton.language as tl

SCALE = tl.constexpr(2.0)
TIMES = tl.constexpr(1)


@triton.jit
def f(x):
    return x * SCALE


@triton.jit
def g(x):
    return tl.exp(tl.sin(x))


@triton.constexpr_function
def count(n):
    return n + 1
"""
KERNEL = """import triton
import triton.language as tl
import memory_helper as helper
from memory_helper import count, f

UNROLL = tl.constexpr(1)
UNUSED = tl.constexpr(1)
START = 1


@triton.jit
def kern(x_ptr, y_ptr, n, BLOCK: tl.constexpr, FIRST: tl.constexpr = START):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = f(tl.load(x_ptr + i, mask=i < n)) + FIRST
    for k in tl.static_range(UNROLL):
        x = x + tl.load(y_ptr + i + k * 1024, mask=i < n)
    for k in tl.static_range(count(1)):
        x = tl.sqrt(x)
    for k in tl.static_range(helper.TIMES):
        x = x * 3
    tl.store(y_ptr + i, x, mask=i < n)


def make(TIMES):
    @triton.jit
    def made(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        for k in tl.static_range(TIMES):
            tl.store(y_ptr + i + k * 64, tl.load(x_ptr + i), mask=i < n)

    return made


MADE = make(tl.constexpr(1))
"""
OPTIONS = CompileOptions(arch=("gfx942",), signature="*fp32:16,*fp32:16,i32:16", constexpr={"BLOCK": 256})


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written and compiled goes to a cache of the test's own."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """The kernel's module, imported as a program imports it."""
    folder = tmp_path / "imported"
    folder.mkdir()
    (folder / "memory_helper.py").write_text(HELPER)
    (folder / "memory_kernel.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module("memory_kernel")
    for name in ("memory_kernel", "memory_helper"):
        sys.modules.pop(name, None)


@pytest.fixture
def in_file(tmp_path: Path) -> Callable[..., list[str]]:
    """Instructions of files that say the same as the module in memory."""

    def instructions(kernel: str = KERNEL, helper: str = HELPER, name: str = "kern") -> list[str]:
        folder = tmp_path / "oracle"
        folder.mkdir()
        # A name of its own: a worker keeps the module that it imported for the program's.
        (folder / "oracle_helper.py").write_text(helper)
        (folder / "memory_kernel.py").write_text(kernel.replace("memory_helper", "oracle_helper"))
        return of(load(f"{folder / 'memory_kernel.py'}::{name}", OPTIONS))

    return instructions


def of(kernels: Any) -> list[str]:
    """Names of the instructions of the one kernel."""
    (kernel,) = kernels
    return [instruction.opcode.name for instruction in kernel.program.instructions]


def changed(kern: Any) -> tuple[list[str], str, str]:
    """Instructions, the note on what differs, and the file that findings name."""
    (kernel,) = load(kern, OPTIONS)
    notes = [note for note in kernel.notes if "memory" in note]
    return of([kernel]), "".join(notes).partition(f"{Path(kern.fn.__code__.co_filename)}: ")[2], kernel.source.file


def test_what_is_as_in_the_file_is_compiled_from_it(module: Any, in_file: Any) -> None:
    """Its place is the user's file, and nothing is said of memory; a second question is answered alike."""
    module.UNUSED = module.tl.constexpr(7)
    instructions = in_file()
    for _ in range(2):
        assert changed(module.kern) == (instructions, "", module.__file__)


CHANGES: dict[str, tuple[Callable[[Any], object], tuple[str, str], tuple[str, str], str]] = {
    "a global": (
        lambda m: setattr(m, "UNROLL", m.tl.constexpr(12)),
        ("UNROLL = tl.constexpr(1)", "UNROLL = tl.constexpr(12)"),
        ("", ""),
        "UNROLL",
    ),
    "another helper": (
        lambda m: setattr(m, "f", m.helper.g),
        ("import count, f", "import count, g as f"),
        ("", ""),
        "f",
    ),
    "a global of a helper": (
        lambda m: setattr(m.helper, "SCALE", m.tl.constexpr(1.0)),
        ("", ""),
        ("SCALE = tl.constexpr(2.0)", "SCALE = tl.constexpr(1.0)"),
        "f: SCALE",
    ),
    "a function of compile time": (
        lambda m: setattr(m, "count", m.triton.constexpr_function(nine)),
        ("", ""),
        ("return n + 1", "return n + 9"),
        "count",
    ),
    "source": (
        lambda m: m.kern._unsafe_update_src(m.kern.src.replace("x * 3", "tl.exp(x)")),
        ("x * 3", "tl.exp(x)"),
        ("", ""),
        "kern, tl.exp",
    ),
}


def nine(n: int) -> int:
    """A function of compile time that another module defines."""
    return n + 9


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_in_memory_is_compiled(module: Any, in_file: Any, change: str) -> None:
    """The instructions are those of a file that says the same, and the note names what differs."""
    before = changed(module.kern)[0]
    make, kernel, helper, names = CHANGES[change]
    make(module)

    instructions, said, place = changed(module.kern)
    assert instructions == in_file(KERNEL.replace(*kernel), HELPER.replace(*helper))
    assert instructions != before
    assert said == names
    assert place != module.__file__
    assert Path(place).name == "memory_kernel.py"


def test_a_file_that_changed_since_it_was_imported(module: Any) -> None:
    """The function that the program has is the old one."""
    before = changed(module.kern)[0]
    Path(module.__file__).write_text(KERNEL.replace("x * 3", "tl.exp(x)"))
    assert changed(module.kern)[:2] == (before, "kern, tl.exp")


def test_a_function_of_a_factory(module: Any, in_file: Any) -> None:
    """Its closure's value counts, whatever name its module holds it by."""
    before = changed(module.MADE)[0]
    module.MADE = module.make(module.tl.constexpr(9))
    instructions, said, _ = changed(module.MADE)
    assert said == "TIMES"
    assert instructions != before
    assert instructions == in_file(
        KERNEL.replace("MADE = make(tl.constexpr(1))", "MADE = make(tl.constexpr(9))"), name="MADE"
    )


REFUSED: list[tuple[Callable[[Any, Any], object], str, str]] = [
    (lambda m, p: p.setattr(m.helper, "TIMES", m.tl.constexpr(5)), "helper.TIMES is 5", "and 1 in the file"),
    (lambda m, p: p.setattr(m.tl, "sqrt", m.tl.exp), "tl.sqrt is triton.language.math.exp", "math.sqrt in the file"),
    (lambda m, p: p.setattr(m.tl, "load", wrapped(m.tl.load)), "tl.load is the function", "core.load in the file"),
    (lambda m, p: p.setattr(m, "UNROLL", object()), "UNROLL is a object", "and 1 in the file"),
]


@pytest.mark.parametrize(("change", "names", "words"), REFUSED)
def test_what_cannot_be_given_is_refused(module: Any, monkeypatch: Any, change: Any, names: str, words: str) -> None:
    """A patched function of Triton's, an attribute of a module, an object: by the name that differs."""
    assert changed(module.kern)[1] == ""
    change(module, monkeypatch)
    with pytest.raises(KprofError) as caught:
        changed(module.kern)

    assert names in caught.value.message
    assert words in caught.value.message
    monkeypatch.undo()
    assert changed(module.kern)[1] == ""


def wrapped(builtin: Any) -> Any:
    """A patch as programs make it: it has the name and the module of what it replaces."""
    import functools

    @functools.wraps(builtin)
    def patched(*args: Any, **kwargs: Any) -> Any:
        return builtin(*args, **kwargs)

    del patched.__wrapped__
    return patched
