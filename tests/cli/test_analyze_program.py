"""``kprof analyze kernel FILE.py -- ARGS``: a program is run on the simulated GPU, and its launches are analysed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kprof.cli._programs import program_of
from tests.conftest import Ran

PROGRAM = """
import sys
import time

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


@triton.jit
def shift(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 2, mask=at < n)


if __name__ == "__main__":
    print("this is the program's own output")
    n = int(sys.argv[1])
    x = torch.rand(n, device="cuda") if n else None
    if n:
        scale[(triton.cdiv(n, 1024),)](x, n, BLOCK=1024)
        shift[(triton.cdiv(n, 512),)](x, n, BLOCK=512)
    if "--fail" in sys.argv:
        sys.exit(3)
"""

FLOATS = """
class Floats:
    dtype = "fp32"

    def __init__(self, n):
        self.shape = (n,)

    def data_ptr(self):
        return 4096

    def ptr_range(self):
        return 4 * self.shape[0]

    def stride(self):
        return (1,)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The program in a file of the current folder, without torch, whose import takes longer than all the rest."""
    # Older Tritons look at arguments through torch.
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    monkeypatch.chdir(tmp_path)
    text = PROGRAM.replace("import torch\n", FLOATS).replace('torch.rand(n, device="cuda")', "Floats(n)")
    Path("program.py").write_text(text)
    return "program.py"


def kernels(ran: Ran) -> dict[str, Any]:
    """The kernels of a document by name."""
    return {kernel["name"]: kernel for kernel in json.loads(ran.out)["kernels"]}


@pytest.mark.triton
def test_launches_of_a_program(program: str, kprof: Callable[..., Ran]) -> None:
    """With torch: their grids and sizes, for the GPU that is named; the program's output is no part of the document."""
    Path(program).write_text(PROGRAM)
    ran = kprof("analyze", "kernel", program, "--arch", "MI308X", "--json", "-", "--", "98432")
    found = kernels(ran)

    assert ran.code == 0, ran.err
    assert {name: kernel["specialization"]["constexprs"] for name, kernel in found.items()} == {
        "scale": {"BLOCK": 1024},
        "shift": {"BLOCK": 512},
    }
    assert found["scale"]["specialization"]["attributes"]["n"] == {"divisibility": 16}
    assert found["scale"]["model"]["time_us"] > 0
    assert "kprof: running program.py on a simulated AMD Instinct MI308X" in ran.err


@pytest.mark.triton
def test_one_function_and_a_failure(program: str, kprof: Callable[..., Ran]) -> None:
    """One function's launches only; that the program failed afterwards leaves the verdict open."""
    ran = kprof("analyze", "kernel", f"{program}::shift", "--json", "-", "--", "4096", "--fail")

    assert (ran.code, list(kernels(ran))) == (2, ["shift"])
    assert "failed with exit status 3: its later launches are not known" in ran.err


@pytest.mark.triton
def test_a_program_that_launches_nothing(program: str, kprof: Callable[..., Ran]) -> None:
    """It is analysed as without being run, which says what is missing."""
    ran = kprof("analyze", "kernel", f"{program}::scale", "--", "0")

    assert ran.code == 2
    assert "program.py launched no Triton kernel; it is analysed as if it had not been run" in ran.err
    assert "scale does not say how it is launched" in ran.err


@pytest.mark.triton
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("softmax", "--", "3"), "arguments after -- need exactly one Python file"),
        (("program.py", "softmax", "--", "3"), "arguments after -- need exactly one Python file"),
        (("missing.py", "--"), "missing.py: no such file"),
        (("program.py", "--time-limit", "3"), "--time-limit can only be used with a program"),
        (("program.py", "--signature", "*fp32", "--", "1"), "does not use --signature"),
        (("program.py", "--arch", "gfx942,gfx950", "--", "1"), "for one GPU at a time"),
    ],
)
def test_refused_before_anything_is_run(
    arguments: tuple[str, ...], message: str, program: str, kprof: Callable[..., Ran]
) -> None:
    """One sentence; the program does not start."""
    del program
    ran = kprof("analyze", "kernel", *arguments)

    assert ran.code == 2
    assert message in ran.err
    assert "running" not in ran.err


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (["a.py", "-q"], (["a.py"], None)),
        (["a.py", "--", "b", "--c"], (["a.py"], ["b", "--c"])),
        (["a.py", "--"], (["a.py"], [])),
        (["a.py", "--", "b", "--", "c"], (["a.py"], ["b", "--", "c"])),
        (["-q", "--", "a.py"], (["a.py"], None)),
    ],
)
def test_what_follows_the_dashes(
    line: list[str], found: tuple[list[str], list[str] | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the shell gives it; a line without targets before the dashes is as for any command."""
    before, dashes, after = line, [], []
    if "--" in line:
        at = line.index("--")
        before, dashes, after = line[:at], ["--"], line[at + 1 :]
    monkeypatch.setattr("sys.argv", ["kprof", "analyze", "kernel", *before, *dashes, *after])

    assert program_of([*(word for word in before if not word.startswith("-")), *after]) == found


@pytest.mark.triton
def test_a_page_of_a_program(program: str, kprof: Callable[..., Ran]) -> None:
    """``kprof report`` runs it like ``analyze``, and its sources are on the page after the recording is gone."""
    ran = kprof("report", f"{program}::shift", "-o", "page.html", "--", "98432")
    page = Path("page.html").read_text()

    assert ran.code == 0, ran.err
    assert "shift" in page
    assert "program_id" in page
    assert "1 kernel analysed" in ran.out


def test_a_live_page_runs_no_program(program: str, kprof: Callable[..., Ran]) -> None:
    """Its arguments would be targets; the message says how it is shown."""
    ran = kprof("view", f"{program}::shift", "--", "98432")
    assert ran.code == 2
    assert "kprof view runs no program" in ran.err
    assert "kprof capture -o FOLDER -- python program.py 98432; kprof view FOLDER" in ran.err


@pytest.mark.triton
def test_a_program_is_held_against_a_measurement(program: str, kprof: Callable[..., Ran], tmp_path: Path) -> None:
    """``kprof validate`` joins what it launches with what was measured of it."""
    (tmp_path / "run_kernel_trace.csv").write_text(
        '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp",'
        '"Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z",'
        '"Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
        '"KERNEL_DISPATCH",1,1,1,"shift",1,1000,6000,0,0,256,1,1,49408,1,1\n'
    )
    options = ("--arch", "MI300X", "--counters", "run_kernel_trace.csv", "--json", "-")
    ran = kprof("validate", f"{program}::shift", *options, "--", "98432")
    (kernel,) = json.loads(ran.out)["kernels"]
    assert kernel["kernel"] == "shift"
    (compared,) = kernel["comparisons"]
    assert compared["measured"] == 5
    assert compared["low"] < compared["modelled"] < compared["high"]


@pytest.mark.parametrize("command", ["select", "draw layout", "check", "occupancy"])
def test_commands_that_run_no_program_say_so(command: str, kprof: Callable[..., Ran], tmp_path: Path) -> None:
    """What stands after the dashes is not lost, nor called an unexpected argument."""
    ran = kprof(*command.split(), str(tmp_path / "any.py::fn"), "--", "5000")
    assert ran.code == 2
    said = " ".join(ran.err.split())
    assert f"kprof {command} runs no program and cannot use" in said
    assert "5000" in said
