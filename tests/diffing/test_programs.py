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

PROGRAM = """
import os, sys
import torch, triton, triton.language as tl

@triton.jit
def scale(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)

scale[(1,)](torch.ones(64, device="cuda"), BLOCK=64)
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
@needs_torch
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
        (("--triton", "installed"), "one --triton alone is nothing to compare with"),
        ((), "a program is recorded under each of several Tritons"),
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


@pytest.mark.triton
@needs_torch
def test_one_function_of_a_program(program, kprof):
    """The file runs with what stands after the dashes, under each; only that function's launches are compared."""
    other = PROGRAM.replace("scale", "shift").partition("sys.exit")[0]
    program.write_text(other + PROGRAM.replace('"cuda"', '"cuda", dtype=getattr(torch, sys.argv[1])'), encoding="utf-8")
    both = ("diff", "--triton", "installed", "--triton", sys.executable, "--json", "-")
    ran = kprof(*both, "program.py::scale", "--", "float16")
    assert ran.code == 0, ran.out + ran.err
    document = json.loads(ran.out)
    assert [kernel["name"] for kernel in document["kernels"]] == ["scale"]

    ran = kprof(*both, "program.py::none", "--", "float16")
    assert ran.code == 2
    assert "program.py: launches no Triton function 'none' under any of them" in ran.err


def test_a_program_has_one_target(program, kprof):
    """Old and new would be two programs."""
    ran = kprof("diff", "--triton", "installed", "--triton", sys.executable, "program.py", "program.py", "--", "1")
    assert ran.code == 2
    assert "a program is compared with itself: name one FILE.py, or none and the command after --" in ran.err
