"""A program under several Tritons, recorded again under each."""

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kprof.diffing.comparing import Input, diff
from kprof.diffing.limits import DiffLimits
from kprof.findings import Severity

# Without torch, whose import takes longer than all the rest.
PROGRAM = """
import os, sys
import triton, triton.language as tl

class Ones:
    shape = (64,)

    def __init__(self, dtype="fp32"):
        self.dtype = dtype

    def data_ptr(self):
        return 4096

    def ptr_range(self):
        return 1 << 20

    def stride(self):
        return (1,)

@triton.jit
def scale(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)

scale[(1,)](Ones(), BLOCK=64)
sys.exit(3 if os.environ.get("FAILS") else 0)
"""

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that launches one kernel."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path / "program.py"


@pytest.mark.triton
def test_under_the_installed_triton_and_an_interpreter(program, kprof, monkeypatch):
    """Both sides launch; what a program that fails leaves untold is in the verdict's line."""
    arguments = ("diff", "--triton", "installed", "--triton", sys.executable, "--arch", "gfx942", "--json", "-")
    ran = kprof(*arguments, "--", "python", program)
    assert ran.code == 0, ran.out + ran.err
    document = json.loads(ran.out)
    assert [side["label"] for side in document["sides"]] == ["Triton installed", sys.executable]
    assert document["counts"] == {"same": 1}

    monkeypatch.setenv("FAILS", "1")
    ran = kprof(*arguments, "--", "python", program)
    assert ran.code == 2
    verdict = json.loads(ran.out)["verdict"]
    assert verdict["status"] == "cannot_tell"
    assert "the program failed with exit status 3" in verdict["summary"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--triton", "installed", "--triton", "./none/python"), "no such interpreter"),
        (("--triton", "installed", "--triton", "none.whl"), "no such wheel"),
        (("--triton", "installed"), "one --triton is not enough for a comparison"),
        ((), "comparing a program requires several --triton"),
        (("--triton", "installed", "--triton", sys.executable, "--shape", "M=4"), "does not use --shape"),
    ],
)
def test_what_cannot_be_done_is_said(program, kprof, arguments, words):
    """One sentence, before anything is run."""
    ran = kprof("diff", *arguments, "--", "python", program)
    assert ran.code == 2
    assert words in " ".join((ran.out + ran.err).split())


def test_what_could_not_be_compared_is_in_the_verdict():
    """With its side."""
    sides = [Input("old", [], ["gemm: cannot read this TTIR"]), Input("new", [])]
    found = diff(sides, DiffLimits(Severity.WARNING, {}))
    assert found.verdict.status == "cannot_tell"
    assert os.linesep not in found.verdict.summary


TWO_GRIDS = (
    PROGRAM.partition("sys.exit")[0].replace("scale[(1,)]", "scale[(2,)]")
    + """
scale[(640,)](Ones(), BLOCK=64)
"""
)


@pytest.mark.triton
def test_launches_are_paired_by_their_grid_and_have_times(program, kprof):
    """Each grid is an entry of its own, with the predicted time of its launch on both sides."""
    program.write_text(TWO_GRIDS, encoding="utf-8")
    both = ("diff", "--triton", "installed", "--triton", sys.executable, "--arch", "MI300X")
    ran = kprof(*both, "-vv", "--json", "d.json", "--", "python", program)
    assert ran.code == 0, ran.out + ran.err
    document = json.loads(Path("d.json").read_text())
    assert sorted(kernel["grid"][0] for kernel in document["kernels"]) == [2, 640]
    for kernel in document["kernels"]:
        old, new = kernel["figures"]["model_us"]
        assert old == new > 0
        assert "notes" not in kernel["steps"][0]
    shown = " ".join(ran.out.split())
    assert "predicted:" in shown
    assert "scale [640x1x1]" in shown


WORSE = """
import os
import torch, triton, triton.language as tl

@triton.jit
def product(a, b, c, SIZE: tl.constexpr, KIND: tl.constexpr):
    rows, columns = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    total = tl.dot(tl.load(a + rows * SIZE + columns), tl.load(b + rows * SIZE + columns))
    tl.store(c + rows * SIZE + columns, total.to(KIND))

a, b = (torch.ones(128, 128, device="cuda", dtype=torch.float16) for _ in range(2))
c = torch.ones(128, 128, device="cuda")
product[(1,)](a, b, c, SIZE=128, KIND=tl.float32, num_warps=1 if "FEW" in os.environ else 8)
"""


@pytest.mark.triton
@pytest.mark.slow
@needs_torch
def test_what_got_worse_is_explained(program, kprof, tmp_path):
    """From the recordings of both sides, as for a capture: with what was tried and a cure that was compiled.

    A compile-time value that is a type is no knob, and cannot be sent to the processes that compile.
    """
    program.write_text(WORSE, encoding="utf-8")
    other = tmp_path / "other"
    other.write_text(f'#!/bin/sh\nFEW=1 exec {sys.executable} "$@"\n', encoding="utf-8")
    other.chmod(0o755)
    both = ("diff", "--triton", "installed", "--triton", other, "--arch", "MI300X", "--json", "-")
    ran = kprof(*both, "--", "python", program)
    assert ran.code == 1, ran.out + ran.err
    (kernel,) = json.loads(ran.out)["kernels"]
    why = kernel["explanation"]
    assert why["tried"] > 0, why
    assert why["cures"], why
    assert all(cure["time_us"] for cure in why["cures"])

    ran = kprof(*both, "--no-explain", "--", "python", program)
    assert "explanation" not in json.loads(ran.out)["kernels"][0]


def test_an_interpreter_of_another_python_cannot_explain(program, kprof, tmp_path):
    """Its Triton cannot be imported here: an error before the program is run."""
    other = tmp_path / "python2"
    other.write_text("#!/bin/sh\nprintf 'cpython-27\\n/nowhere/triton\\n\\n'\n", encoding="utf-8")
    other.chmod(0o755)
    ran = kprof("diff", "--triton", "installed", "--triton", other, "--explain", "--", "python", program)
    assert ran.code == 2
    assert "--explain compiles with each Triton, and this Python cannot import that of" in ran.err


@pytest.mark.triton
def test_one_function_of_a_program(program, kprof):
    """The file runs with what stands after the dashes, under each; only that function's launches are compared."""
    other = PROGRAM.replace("scale", "shift").partition("sys.exit")[0]
    program.write_text(other + PROGRAM.replace("Ones()", "Ones(sys.argv[1])"), encoding="utf-8")
    both = ("diff", "--triton", "installed", "--triton", sys.executable, "--json", "-")
    ran = kprof(*both, "program.py::scale", "--", "fp16")
    assert ran.code == 0, ran.out + ran.err
    document = json.loads(ran.out)
    assert [kernel["name"] for kernel in document["kernels"]] == ["scale"]

    ran = kprof(*both, "program.py::none", "--", "fp16")
    assert ran.code == 2
    assert "program.py: launches no Triton function 'none' under any of them" in ran.err


def test_a_program_has_one_target(program, kprof):
    """Old and new would be two programs."""
    ran = kprof("diff", "--triton", "installed", "--triton", sys.executable, "program.py", "program.py", "--", "1")
    assert ran.code == 2
    assert "a program is compared with itself: name one FILE.py, or none and the command after --" in ran.err
