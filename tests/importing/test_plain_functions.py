"""What a file of nothing but Triton functions may hold: each kind of Python by itself, let through or refused."""

import re

import pytest

from kprof.errors import TargetError
from kprof.importing.plain_functions import FormError, check_plain, knobs_of, parsed

pytestmark = pytest.mark.triton

HEAD = "import triton\nimport triton.language as tl\n"
FUNCTION = "@triton.jit\ndef kernel(x_ptr, n, BLOCK: tl.constexpr):\n"


def check(text: str) -> None:
    """Look a file through."""
    check_plain(parsed(text))


def refusal(text: str) -> tuple[str, str]:
    """Return the reason for refusing a file, without the ending that all reasons have, and its line."""
    with pytest.raises(FormError) as refused:
        check(text)
    what, _, rest = refused.value.message.partition(": a candidate may contain only ")
    assert rest == "imports of triton, constants and @triton.jit functions"
    return what.removeprefix("contains "), refused.value.place


def body(*lines: str) -> str:
    """A file with one function of these lines; the first stands in line 5."""
    return HEAD + FUNCTION + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    "lines",
    [
        [
            "x = tl.load(x_ptr + tl.arange(0, BLOCK), mask=tl.arange(0, BLOCK) < n)",
            "tl.store(x_ptr, tl.sum(x, axis=0))",
        ],
        ["for i in range(0, n):", "    tl.store(x_ptr + i, abs(min(i, max(i, 3))))"],
        ["for i in tl.static_range(4):", "    tl.store(x_ptr + i, float(int(bool(i))))"],
        ["y = tuple((1, 2))", "tl.store(x_ptr, len(y) + sum(y))"],
        ["if n > 3 and BLOCK > 4:", "    tl.store(x_ptr, 1)"],
        ["if not (n > 3 or BLOCK > 4):", "    tl.store(x_ptr, 1)"],
        ["if not (n or BLOCK):", "    tl.store(x_ptr, 1)"],
        ["while n > 0:", "    n = n - 1"],
        ["y = 1 if n > 3 else 2"],
        ["y = BLOCK or 3"],
        ["if n is None:", "    tl.store(x_ptr, 1)"],
        ["if n is not None:", "    tl.store(x_ptr, 1)"],
        ["tl.store(x_ptr, triton.cdiv(BLOCK, 2) + triton.next_power_of_2(BLOCK))"],
        ["tl.store(x_ptr, tl.math.exp2(1.0).to(tl.float16))"],
        ["d = x_ptr.dtype.element_ty", "tl.store(x_ptr, tl.zeros((4,), dtype=d).trans().shape[0])"],
        ["assert n > 3"],
        ["return"],
    ],
)
def test_what_kernels_need_is_let_through(lines):
    check(body(*lines))


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("import os", "an import inside a function"),
        ("from os import path", "an import inside a function"),
        ("y = lambda: 1", "a lambda"),
        ("class C: pass", "a class"),
        ("def inner(): pass", "a function inside a function"),
        ("async def inner(): pass", "an asynchronous function"),
        ("global n2", "a global statement"),
        ("nonlocal n2", "a nonlocal statement"),
        ("yield n", "a generator"),
        ("yield from n", "a generator"),
        ("await n", "an await"),
        ("raise n", "a raise statement"),
        ("del n", "a del statement"),
        ("y = f'{n}'", "a formatted string"),
        ("y = n is BLOCK", "a comparison of identities"),
        ("y = n is not BLOCK", "a comparison of identities"),
        ("y = n < 3 is BLOCK", "a comparison of identities"),
        ("y = isinstance(n, int)", "the name isinstance"),
        ("y = str(n)", "the name str"),
        ("y = type(n)", "the name type"),
        ("y = eval('1')", "the name eval"),
        ("y = getattr(n, 'x')", "the name getattr"),
        ("y = __builtins__", "the name __builtins__"),
        ("y = __name__", "the name __name__"),
        ("y = n.__class__", "the attribute __class__"),
        ("y = n.handle", "the attribute handle"),
        ("y = n.fn", "the attribute fn"),
        ("y = n or 3", "an and or an or whose value is used as a number"),
        ("y = 3 and n", "an and or an or whose value is used as a number"),
        ("y = triton.testing", "triton.testing"),
        ("y = triton.runtime", "triton.runtime"),
        ("y = triton.autotune", "triton.autotune"),
        ("y = tl.__builtins__", "triton.language.__builtins__"),
        ("y = tl._experimental", "triton.language._experimental"),
        ("y = tl.nothing", "triton.language.nothing"),
        ("y = tl.core", "triton.language.core"),
    ],
)
def test_what_a_function_may_not_hold_is_named_with_its_line(line, what):
    assert refusal(body("pass", line)) == (what, "line 6")


def test_a_try_and_a_with_are_refused():
    assert refusal(body("try:", "    n = 1", "except n:", "    pass")) == ("a try statement", "line 5")
    assert refusal(body("with n:", "    pass")) == ("a with statement", "line 5")


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("import os", "import os"),
        ("import triton.testing", "import triton.testing"),
        ("from os import path", "from os import"),
        ("from . import x", "from . import"),
        ("from ..a import x", "from ..a import"),
        ("from .triton import jit", "from .triton import"),
        ("from .triton.language import load", "from .triton.language import"),
        ("from triton.runtime import driver", "from triton.runtime import"),
        ("from triton.language.core import builtin", "from triton.language.core import"),
        ("from triton import testing", "triton.testing"),
        ("from triton.language import nothing", "triton.language.nothing"),
        ("print(1)", "a expr statement outside of functions"),
        ("for i in (1,): pass", "a for statement outside of functions"),
        ("class C: pass", "a classdef statement outside of functions"),
        ("X = object()", "a constant that is not a literal"),
        ("X = [i for i in (1,)]", "a constant that is not a literal"),
        ("X = {**{}}", "a constant that is not a literal"),
        ("X = constexpr(3)", "a call of constexpr"),
        ("X = tl.constexpr(object())", "a constant that is not a literal"),
        ("X = tl.constexpr(3, _x=1)", "a constant that is not a literal"),
        ("X: int = object()", "a constant that is not a literal"),
        ("def f(x): pass", "f, a function without @triton.jit"),
        ("@triton.autotune(configs=[], key=[])\n@triton.jit\ndef f(x): pass", "triton.autotune"),
        ("@staticmethod\ndef f(x): pass", "staticmethod"),
        ("@tl.constexpr\ndef f(x): pass", "the decorator tl.constexpr"),
        ("@triton.jit(debug=object())\ndef f(x): pass", "a constant that is not a literal"),
        ("@triton.jit\ndef f(x=object()): pass", "a constant that is not a literal"),
        ("@triton.jit\ndef f(*, x=object()): pass", "a constant that is not a literal"),
        ("@triton.jit\ndef f(x: object()): pass", "a constant that is not a literal"),
        ("@triton.jit\ndef f(*x: object()): pass", "a constant that is not a literal"),
        ("@triton.jit\ndef f(**x: object()): pass", "a constant that is not a literal"),
        ("@triton.jit\ndef f(x, /, y: object()): pass", "a constant that is not a literal"),
        ("@triton.jit\ndef f(x: object(), /): pass", "a constant that is not a literal"),
        ("@triton.jit\ndef f(x) -> object(): pass", "a constant that is not a literal"),
    ],
)
def test_what_a_file_may_not_hold_is_named_with_its_line(statement, what):
    found, line = refusal(HEAD + statement)
    assert found == what
    assert re.fullmatch(r"line [345]", line)


@pytest.mark.parametrize(
    "statement",
    [
        '"""Words."""',
        "from __future__ import annotations",
        "import math",
        "import math as m",
        "from triton import jit, cdiv",
        "from triton.language import load, float16",
        "from triton.language.extra.hip import libdevice",
        "from triton.language.extra import libdevice",
        "from triton.language.math import exp2",
        "import triton.language",
        "X = -1",
        "X = (1, [2, 3.5], 'four', None, True)",
        "X = {'BLOCK': 2 ** 10, 'num_warps': 8}",
        "X: tl.constexpr = tl.constexpr(3)",
        "X = tl.float16",
        "X: int",
        "from triton.language import constexpr\nX = constexpr(4)",
        "@triton.jit(noinline=True)\ndef f(x: tl.constexpr = 3, *rest, y: int = 4, **more) -> tl.tensor:\n    return x",
    ],
)
def test_imports_of_triton_and_constants_are_let_through(statement):
    check(HEAD + statement + "\n" + FUNCTION + "    pass\n")


def test_names_of_the_file_hide_those_of_python():
    """A constant or an argument called like a builtin is what it is; a builtin that nothing hides is refused."""
    check(HEAD + "type = 3\n" + FUNCTION + "    y = type\n")
    assert refusal(HEAD + FUNCTION + "    y = vars\n") == ("the name vars", "line 5")


def test_of_constants_a_value_of_logic_is_an_operand():
    check(HEAD + "X = 3\n" + FUNCTION + "    y = X or BLOCK\n")
    assert refusal(HEAD + "X = 3\n" + FUNCTION + "    y = X or n\n")[0].startswith("an and or an or")
    check(body("y = (n > 3) or (n < 1)"))
    assert refusal(body("y = (n > 3) or n"))[0].startswith("an and or an or")
    # In a condition it is one, whatever stands in it.
    check(body("y = 1 if (n or (n and 3)) else 2"))
    check(body("while n and n:", "    n = 0"))


def test_knobs_of_a_file():
    """Literals under one name; the first such statement counts."""
    assert knobs_of(parsed('CONFIG = {"BLOCK": 1024, "num_warps": 8}\n')) == {"BLOCK": 1024, "num_warps": 8}
    assert knobs_of(parsed("OTHER = {}\n")) == {}
    assert knobs_of(parsed("OTHER = CONFIG = {}\n")) == {}


@pytest.mark.parametrize("value", ["[1]", "{1: 2}", "dict(a=1)", '{"a": b}', '{"a": 1, 2: 3}'])
def test_knobs_that_are_no_dictionary_of_literals(value):
    with pytest.raises(TargetError) as refused:
        knobs_of(parsed(f"\nCONFIG = {value}\n"))
    assert (refused.value.message, refused.value.place) == ("CONFIG is not a dictionary of knobs", "line 2")


def test_what_is_not_python():
    with pytest.raises(TargetError) as refused:
        parsed("x = 1\ndef (:\n")
    assert refused.value.message.startswith("is not valid Python: ")
    assert refused.value.place == "line 2"
    with pytest.raises(TargetError) as refused:
        parsed("x = '\0'")
    assert refused.value.message == "is not valid Python: source code string cannot contain null bytes"
    assert refused.value.place is None
