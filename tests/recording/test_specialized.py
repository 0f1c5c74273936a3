"""Kernels that are written from others at run time, as triton_kernels does."""

import subprocess

import pytest

from kprof.captures.reader import read
from tests.recording.conftest import capture_command, kprof_environment

pytestmark = pytest.mark.triton

SPECIALIZE = """
import types
import triton


def specialize(fn, module, constants, tuples):
    def empty():
        pass

    lines = fn.src.splitlines()
    head = next(n for n, line in enumerate(lines) if line.rstrip().endswith(":"))
    new = ["def written(x):", *[f"    {k}: tl.constexpr = {v}" for k, v in constants.items()], *lines[head + 1:]]
    function = types.FunctionType(empty.__code__, {**fn.fn.__globals__})
    function.__name__ = function.__qualname__ = "written"
    made = {}
    exec(chr(10).join(new), function.__globals__, made)
    function.__module__ = module.__name__
    function.__signature__ = __import__("inspect").signature(made["written"])
    result = triton.JITFunction(function)
    result._unsafe_update_src(chr(10).join(new))
    return result
"""

PROGRAM = """
import sys
import torch, triton, triton.language as tl
from triton_kernels.specialize import specialize


@triton.jit
def template(
    x,
    BLOCK: tl.constexpr,
):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)


specialize(template, sys.modules["__main__"], {"BLOCK": 64}, {})[(1,)](torch.ones(64, device="cuda"))
"""


def test_lines_are_those_of_the_kernel_that_it_comes_from(tmp_path):
    """The stored value stands on line 13 of the program, whatever was written in front of it."""
    pytest.importorskip("torch")
    package = tmp_path / "triton_kernels"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "specialize.py").write_text(SPECIALIZE, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    ran = subprocess.run(
        capture_command(tmp_path / "capture", str(tmp_path / "program.py")),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    (kernel,) = read(tmp_path / "capture").kernels
    assert kernel.source.file.endswith("program.py")
    store = next(line for line in kernel.text("ttgir").splitlines() if " tt.store " in line or "buffer_store" in line)
    number = store.rpartition("loc(")[2].rstrip(") \n")
    place = next(line for line in kernel.text("ttgir").splitlines() if line.startswith(f"{number} = loc("))
    assert "program.py" in place
    assert f":{1 + PROGRAM.splitlines().index('    tl.store(x + at, tl.load(x + at) * 2)')}:" in place
