"""Triton functions written down as a file of nothing else, whatever Python made them."""

import sys
from pathlib import Path

import pytest

from kprof.importing.loading import load_module
from kprof.importing.plain_functions import FormError, check_plain, knobs_of, parsed
from kprof.importing.written_functions import text_of

pytestmark = pytest.mark.triton

MADE = '''"""A file with other Python."""
import os

import triton
import triton.language as tl
from triton.language.extra.hip import libdevice

WIDTH = tl.constexpr(2 ** 3)
SCALE: tl.constexpr = 0.5 + 1
TWICE = [2, 4][0]
CONFIG = {"BLOCK": 1 << 9, **({"num_warps": 2} if os.sep == "/" else {})}


def helper():
    @triton.jit(noinline=False)
    def inner(x):
        return libdevice.sqrt(x) * WIDTH * SCALE

    return inner


root = helper()


@triton.autotune([triton.Config({"BLOCK": 64})], key=["n"])
@triton.jit(do_not_specialize=["n"])
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    os = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + os, mask=os < n)
    tl.store(x_ptr + os, root(x), mask=os < n)
'''


def made(folder: Path, text: str) -> str:
    (folder / "made.py").write_text(text)
    return text_of(load_module(folder / "made.py"), "kernel")


def test_the_text_is_plain_and_the_same_again(tmp_path):
    """Constants are computed, helpers and members of Triton are found, and a variable may be named like a module."""
    text = made(tmp_path, MADE)
    check_plain(parsed(text))
    assert knobs_of(parsed(text)) == {"BLOCK": 512, "num_warps": 2}
    for part in (
        "WIDTH = _language.constexpr(8)",
        "SCALE = _language.constexpr(1.5)",
        "def root(x):",
        "do_not_specialize=['n']",
        "import libdevice",
    ):
        assert part in text
    assert "import os" not in text
    assert "autotune" not in text
    again = tmp_path / "again"
    again.mkdir()
    assert made(again, text) == text


def test_lines_stay_where_they_are(tmp_path):
    """A finding names the line of the candidate's own file."""
    lines = made(tmp_path, MADE).splitlines()
    assert lines.index("def kernel(x_ptr, n, BLOCK: tl.constexpr):") == MADE.splitlines().index(
        "def kernel(x_ptr, n, BLOCK: tl.constexpr):"
    )


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("root = helper()", "root = lambda x: x", "uses root, which is neither a constant"),
        ("root = helper()", "class root: pass", "uses root, which is neither a constant"),
        ("WIDTH = tl.constexpr(2 ** 3)", "WIDTH = object()", "uses WIDTH, which is neither a constant"),
        ("1 << 9", "object()", "CONFIG is not a literal"),
    ],
)
def test_other_python_in_a_function_is_refused(tmp_path, before, after, words):
    with pytest.raises(FormError, match=words):
        made(tmp_path, MADE.replace(before, after))


def test_two_things_of_one_name_are_refused(tmp_path):
    """The helper's file and the kernel's have another constant under one name."""
    (tmp_path / "other_helper.py").write_text(
        "import triton\nimport triton.language as tl\nWIDTH = tl.constexpr(5)\n\n\n@triton.jit\ndef root(x):\n"
        "    return x * WIDTH\n"
    )
    text = MADE.replace("root = helper()", "from other_helper import root").replace("root(x),", "root(x) * WIDTH,")
    try:
        with pytest.raises(FormError, match="two different values are called WIDTH"):
            made(tmp_path, text)
    finally:
        sys.modules.pop("other_helper", None)


def test_bundled_kernels_can_be_written_down():
    """Each is plain afterwards: any of them is an honest candidate."""
    from kprof.importing.permission import own_folder
    from kprof.importing.without_gpu import simulating
    from kprof.importing.wrappers import kernel_function
    from kprof.targets.library import load

    count = 0
    for path in sorted(own_folder().glob("*.py")):
        if path.stem.startswith("_"):
            continue
        with simulating("gfx942"):
            kernel = load(path.stem)
        function = kernel_function(kernel.entry).fn
        check_plain(parsed(text_of(sys.modules[function.__module__], function.__name__)))
        count += 1
    assert count > 20
