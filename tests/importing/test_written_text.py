"""The text of Triton functions, with stand-ins of Triton's decorator and modules: Triton itself is not needed."""

import importlib.util
import inspect
import sys
import textwrap
from types import ModuleType

import pytest

from kprof.errors import TargetError
from kprof.importing.plain_functions import FormError
from kprof.importing.written_functions import text_of


class Jit:
    """What ``@triton.jit`` makes of a function, as far as its text goes."""

    def __init__(self, fn, **more):
        raw, line = inspect.getsourcelines(fn)
        text = textwrap.dedent("".join(raw))
        self.fn, self.params, self.starting_line_number = fn, [], line
        self.src, self.raw_src = text[text.index("def ") :], raw
        vars(self).update(more)


class constexpr:  # noqa: N801 - the name is what an annotation is told by
    """A ``tl.constexpr``."""

    def __init__(self, value):
        self.value = value


def jit(fn=None, **more):
    """As ``@triton.jit`` and ``@triton.jit(noinline=True)``."""
    return Jit(fn, **more) if fn is not None else lambda function: Jit(function, **more)


@pytest.fixture
def triton(monkeypatch):
    """Stand-ins of ``triton``, its language and a module of the language's extras."""
    made = {}
    for name in ("triton", "triton.language", "triton.language.core", "triton.language.extra", "triton.language.more"):
        made[name] = ModuleType(name)
        made[name].__path__ = []
        monkeypatch.setitem(sys.modules, name, made[name])
        parent, _, leaf = name.rpartition(".")
        if parent:
            setattr(made[parent], leaf, made[name])
    made["triton"].jit = jit
    made["triton"].cdiv = lambda a, b: -(-a // b)
    made["triton.language.core"].constexpr = made["triton.language"].constexpr = constexpr
    made["triton.language"].load = len

    def shared(x):
        return x

    shared.__module__ = "triton.language.more"
    hidden = Jit(shared)
    made["triton.language.more"]._hidden = hidden
    made["triton.language.more"].shared = hidden
    return made


@pytest.fixture
def written(triton, tmp_path):
    """The text of a function of a file: ``written(text, "kernel")``."""

    def write(text, name="kernel", change=lambda module: None):
        path = tmp_path / "made.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("kprof_test_made", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        change(module)
        return text_of(module, name)

    return write


MADE = """import math
import math as maths
import triton
import triton.language as tl
import triton.language as other
from triton import cdiv
from triton.language import extra, load
from triton.language.more import shared
WIDTH = tl.constexpr(2 ** 3)
SCALE: tl.constexpr = 0.5 + 1
SIZES = [2, {"a": (None, True)}]
CONFIG = {"BLOCK": 1 << 9}
UNUSED = object()


@triton.jit(noinline=True, do_not_specialize=("n",), do_not_specialize_on_alignment=[])
def inner(x, n):
    return x * WIDTH


@triton.jit
def kernel(x, n):
    y = [WIDTH for WIDTH in (1, 2)]
    z: int = inner(x, n) + SCALE + SIZES[0] + math.pi + maths.e
    tl.store(other.load(x), shared(z) + extra.abs(cdiv(n, 2)) + load(later))
"""


def test_every_name_is_written_with_what_it_is(written):
    """Values are computed; names that the function assigns, its arguments and what nobody defines are left out."""
    first, *lines = written(MADE).splitlines()
    assert set(first.split("; ")) == {
        "import triton",
        "import triton.language as _language",
        "import math as math",
        "import math as maths",
        "import triton.language as tl",
        "import triton.language as other",
        "from triton import cdiv as cdiv",
        "from triton.language import extra as extra",
        "from triton.language import load as load",
        "from triton.language.more import shared as shared",
        "WIDTH = _language.constexpr(8)",
        "SCALE = _language.constexpr(1.5)",
        "SIZES = [2, {'a': (None, True)}]",
        "CONFIG = {'BLOCK': 512}",
    }
    assert first.startswith("import triton; import triton.language as _language; ")
    assert first.endswith("; CONFIG = {'BLOCK': 512}")
    # Functions are at their lines, the decorator before them; the rest is empty.
    own = MADE.splitlines()
    for line in ("def inner(x, n):", "def kernel(x, n):"):
        at = own.index(line)
        assert [first, *lines][at : at + 2] == own[at : at + 2]
    assert [first, *lines][own.index("def inner(x, n):") - 1] == "@triton.jit(do_not_specialize=['n'], noinline=True)"
    assert [first, *lines][own.index("def kernel(x, n):") - 1] == "@triton.jit"
    assert [line for line in lines if line and line not in own] == [
        "@triton.jit(do_not_specialize=['n'], noinline=True)"
    ]


def test_a_file_without_a_configuration_has_none(written):
    assert "CONFIG" not in written(MADE.replace("CONFIG", "OTHER"))


def test_a_function_is_written_under_the_name_that_it_is_used_by(written):
    text = MADE.replace("def inner(", "def helper(").replace(
        "\n\n\n@triton.jit\ndef kernel", "\n\n\ninner = helper\n\n\n@triton.jit\ndef kernel"
    )
    assert "def inner(x, n):" in written(text)
    assert "helper" not in written(text)


def test_names_of_an_enclosing_function_are_found_in_it(written):
    """A closure's value comes before the global of the same name; one without a value is left to Triton."""
    text = """import triton
SIZE = 1


def make():
    SIZE = 2

    @triton.jit
    def made(x):
        return x * SIZE + unbound

    if SIZE == 1:
        unbound = 3
    return made


kernel = make()
"""
    assert written(text).splitlines() == [
        "import triton; import triton.language as _language; SIZE = 2",
        *[""] * 6,
        "@triton.jit",
        "def kernel(x):",
        "    return x * SIZE + unbound",
    ]


HELPER = """@triton.jit
def kernel(x):
    return x * VALUE
"""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("object()", "uses VALUE, which is neither a constant, a Triton function nor a part of Triton's language"),
        ("math.inf", "uses VALUE, which is neither a constant, a Triton function nor a part of Triton's language"),
        ("[1, object()]", "uses VALUE, which is neither a constant, a Triton function nor a part of Triton's language"),
        ("{object(): 1}", "uses VALUE, which is neither a constant, a Triton function nor a part of Triton's language"),
        ("triton.language.constexpr(object())", None),
    ],
)
def test_what_is_no_literal_is_refused(written, value, words):
    with pytest.raises(FormError) as refused:
        written(f"import math\nimport triton\nVALUE = {value}\n\n\n{HELPER}")
    assert words is None or words in str(refused.value)


def test_a_configuration_that_is_no_literal_is_refused(written):
    with pytest.raises(FormError, match="CONFIG is not a literal: function"):
        written(MADE.replace('{"BLOCK": 1 << 9}', "lambda: 1"))


@pytest.mark.parametrize(
    ("one", "other", "alike"), [("1", "1", True), ("1", "2", False), ("1", "True", False), ("[1]", "[1]", True)]
)
def test_one_name_for_two_things_is_refused(written, one, other, alike):
    """Two functions of two files, with a constant each; equal literals of one type are one thing."""
    text = f"import triton\nVALUE = {one}\n\n\n@triton.jit\ndef inner(x):\n    return x + VALUE\n\n\n" + HELPER.replace(
        "x * VALUE", "inner(x) * VALUE"
    )

    def change(module):
        fn = module.inner.fn
        module.inner.fn = type(fn)(fn.__code__, {**fn.__globals__, "VALUE": eval(other)}, "inner")

    if alike:
        assert f"VALUE = {one}" in written(text, change=change)
    else:
        with pytest.raises(FormError, match="two different values are called VALUE"):
            written(text, change=change)


def test_a_function_without_text_is_refused(written):
    def change(module):
        module.kernel.src = None

    with pytest.raises(TargetError, match="the source of a function is not available"):
        written(MADE, change=change)


def test_something_else_than_a_function_is_refused(written):
    def change(module):
        module.kernel.src = "class kernel: pass\n"

    with pytest.raises(FormError, match="kernel is not a function"):
        written(MADE, change=change)


def test_the_line_is_that_of_the_definition_where_triton_keeps_no_lines(written):
    """Older Tritons have no ``raw_src``: the file is read; where it is gone, the first line is that of the function."""

    def change(module):
        module.kernel.raw_src = None

    def lose(module):
        change(module)
        module.kernel.fn = type(module.kernel.fn)(compile("0", "/nowhere.py", "exec"), {})

    own = MADE.splitlines()
    assert written(MADE, change=change).splitlines().index("def kernel(x, n):") == own.index("def kernel(x, n):")
    # The decorator's line is the first one, which is taken for that of the definition.
    text = "import triton\n\n\n@triton.jit\ndef kernel(x):\n    return x\n"
    assert written(text, change=lose).splitlines().index("def kernel(x):") == 3
