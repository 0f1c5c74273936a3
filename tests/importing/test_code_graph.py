"""What definitions use each other: kernels, what they are made of and what launches them, by names alone."""

import pytest

from kprof.importing.code_graph import CodeGraph
from kprof.importing.definitions import read_definitions

KERNEL = """
import triton
import triton.language as tl
from .helpers import helper, SCALE

@triton.jit(repr=lambda _: "kernel")
def kernel(x, n, BLOCK: tl.constexpr):
    \"\"\"A docstring.\"\"\"
    i = tl.arange(0, BLOCK)  # a comment
    tl.store(x + i, helper(i) * SCALE, mask=i < n)
"""
HELPERS = """
import triton

SCALE = 2

@triton.jit
def helper(x):
    return inner(x)

@triton.jit
def inner(x):
    return x + 1
"""
LAUNCH = """
from . import kernels
from .config import block_of

def scale(x):
    return _launch(x)

def _launch(x):
    kernels.kernel[(1,)](x, 8, BLOCK=block_of("SCALE-A8"))

def other(x):
    return x
"""
CONFIG = """
import json

def block_of(name):
    return json.loads(name)
"""
TEST = """
import pytest
from pkg.launch import scale

@pytest.fixture
def ran():
    return scale(1)

def test_scale(ran):
    assert ran

class TestNothing:
    def test_other(self): ...
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/kernels.py": KERNEL,
    "pkg/helpers.py": HELPERS,
    "pkg/launch.py": LAUNCH,
    "pkg/config.py": CONFIG,
    "tests/test_scale.py": TEST,
}
ONE = ("pkg/kernels.py", "kernel")


def graph(**changed: tuple[str, str]) -> CodeGraph:
    """The files, with a text in one of them replaced; ``pkg/kernels.py`` is ``kernels``."""
    files = dict(FILES)
    for name, (old, new) in changed.items():
        path = f"pkg/{name}.py"
        assert old in files[path]
        files[path] = files[path].replace(old, new)
    return CodeGraph({path: read_definitions(path, text) for path, text in files.items()})


def test_helpers_of_kernels_are_no_kernels() -> None:
    assert graph().kernels == [ONE]


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({"kernels": ("A docstring.", "Another one.")}, True),
        ({"kernels": ("  # a comment", "")}, True),
        ({"kernels": ('"kernel")', '"scale")')}, True),
        ({"kernels": ("import triton.language as tl", "import triton.language as tl\nimport math")}, True),
        ({"launch": ("8, BLOCK", "9, BLOCK")}, True),
        ({"kernels": ("i < n", "i <= n")}, False),
        ({"kernels": ("BLOCK: tl.constexpr", "BLOCK")}, False),
        ({"kernels": ("(repr=", "(noinline=True, repr=")}, False),
        ({"kernels": ("helper, SCALE", "inner as helper, SCALE")}, False),
        ({"kernels": ("import triton.language as tl", "import triton.other as tl")}, False),
        ({"helpers": ("SCALE = 2", "SCALE = 3")}, False),
        ({"helpers": ("x + 1", "x + 2")}, False),
    ],
)
def test_the_source_of_a_kernel_is_all_that_it_uses_and_no_comments(
    changed: dict[str, tuple[str, str]], same: bool
) -> None:
    assert (graph().source(ONE) == graph(**changed).source(ONE)) is same


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({"launch": ("8, BLOCK", "9, BLOCK")}, False),
        ({"launch": ("return _launch(x)", "return _launch(x + 1)")}, False),
        ({"config": ("loads(name)", "loads(name + '.json')")}, False),
        ({"launch": ("    return x\n", "    return -x\n")}, True),
        ({"kernels": ("i < n", "i <= n")}, True),
    ],
)
def test_what_launches_a_kernel_is_what_leads_to_it_and_its_helpers(
    changed: dict[str, tuple[str, str]], same: bool
) -> None:
    assert (graph().launch_parts(ONE) == graph(**changed).launch_parts(ONE)) is same


def test_decorators_that_choose_a_configuration_are_part_of_the_launch() -> None:
    tuned = graph(kernels=("@triton.jit", "@triton.autotune(configs=[1], key=[])\n@triton.jit"))
    assert tuned.source(ONE) == graph().source(ONE)
    assert tuned.launch_parts(ONE) != graph().launch_parts(ONE)


def test_public_functions_and_tests_lead_to_a_kernel_fixtures_among_them() -> None:
    found = graph()
    users = found.users(ONE)
    assert found.public(users) == [("pkg/launch.py", "scale")]
    assert found.tests(users) == ["tests/test_scale.py::test_scale"]


@pytest.mark.parametrize(
    "text",
    [
        "from pkg.launch import *\ndef run(): scale(1)",
        "import pkg.launch\ndef run(): pkg.launch.scale(1)",
        "import pkg.launch as there\ndef run(): there.scale(1)",
        "def run():\n    from pkg.launch import scale as it\n    it(1)",
        "import torch\ndef run(): torch.ops.some.scale(1)",
        "import pkg.launch\nTABLE = {1: pkg.launch.scale}\ndef run(): TABLE[1](1)",
        "import pkg.launch\nTABLE = {}\nTABLE['a'] = pkg.launch.scale\ndef run(): TABLE['a'](1)",
        "try:\n    from pkg.launch import scale\nexcept ImportError:\n    scale = None\ndef run(): scale(1)",
        "from pkg.launch import scale\ndef run():\n    return [f for f in [scale]]",
        "from pkg.launch import scale\nclass run:\n    def go(self):\n        scale(1)",
    ],
)
def test_ways_to_name_a_function(text: str) -> None:
    files = {**FILES, "use.py": text}
    found = CodeGraph({path: read_definitions(path, each) for path, each in files.items()})
    assert ("use.py", "run") in found.users(ONE)


@pytest.mark.parametrize(
    "text",
    [
        "from pkg.launch import scale\ndef run(scale): scale(1)",
        "from pkg.launch import scale\ndef run():\n    scale = print\n    scale(1)",
        "from pkg.launch import scale\ndef run(): 'scale'",
        "def run(): scale(1)",
    ],
)
def test_local_names_and_texts_are_none(text: str) -> None:
    files = {**FILES, "use.py": text}
    found = CodeGraph({path: read_definitions(path, each) for path, each in files.items()})
    assert ("use.py", "run") not in found.users(ONE)


def test_a_function_that_makes_kernels_is_one() -> None:
    text = (
        "import triton\ndef make():\n    @triton.jit\n    def inner(x): ...\n    return inner\nk = triton.jit(make)\n"
    )
    found = CodeGraph({"a.py": read_definitions("a.py", text)})
    assert found.kernels == [("a.py", "make"), ("a.py", "k")]


def test_another_compilers_functions_are_none() -> None:
    text = "import numba\n@numba.jit\ndef f(x): return x\n"
    assert CodeGraph({"a.py": read_definitions("a.py", text)}).kernels == []
