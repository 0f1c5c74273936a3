"""Files that ask for a GPU when they are imported give their kernels on a machine that has none."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.hardware.machine import load as load_architecture
from kprof.importing.functions import load_function
from kprof.importing.loading import dependencies_of, left_out, load_module
from kprof.importing.without_gpu import simulating
from kprof.options.groups import CompileOptions
from kprof.targets.jobs import plan
from tests.conftest import Ran

# As tutorials are written: the device at the top, kernels, and a program without a guard between and after them.
PROGRAM = """from __future__ import annotations

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()
TARGET = triton.runtime.driver.active.get_current_target()
PROPERTIES = triton.runtime.driver.active.utils.get_device_properties(DEVICE.index)
UNITS = torch.cuda.get_device_properties(DEVICE).multi_processor_count


def get_configs():
    block = 128 if TARGET.arch == "gfx942" else 64
    backend = TARGET.backend
    return [triton.Config({"BLOCK": block}, num_warps=4 if backend == "hip" else 1)]


@triton.autotune(configs=get_configs(), key=["n"])
@triton.jit
def first(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


size = 98432
x = torch.rand(size, device=DEVICE)
y = (x > 0.5)
first[(1,)](y, size)


@triton.jit
def second(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


print(x.sum())
"""


@pytest.fixture(autouse=True)
def no_gpu() -> None:
    """These are about machines without one."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The program in a file."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.triton
def test_kernels_before_and_after_what_needs_a_gpu(program: Path) -> None:
    """The device is answered for; a tensor on it and what follows from it are left out, and said."""
    module = load_module(program)
    lines = PROGRAM.splitlines()

    assert (str(module.DEVICE), module.TARGET.backend, module.size) == ("cuda:0", "hip", 98432)
    assert module.UNITS == module.PROPERTIES["multiprocessor_count"] == 304
    assert load_function(program, "second").arguments == ("x", "n", "BLOCK")
    words = left_out(module)
    assert words is not None
    numbers = [lines.index(text) + 1 for text in ("x = torch.rand(size, device=DEVICE)", "y = (x > 0.5)")]
    assert f"statements at lines {numbers[0]}, {numbers[1]}, " in words
    assert "a tensor on the GPU" in words
    # What follows a future import still has it.
    assert module.second.fn.__annotations__ == {"BLOCK": "tl.constexpr"}


@pytest.mark.triton
def test_the_answers_are_those_of_the_gpu_that_is_analysed(program: Path) -> None:
    """Configurations that depend on the architecture are its own, in one process for several of them."""
    options = CompileOptions(signature="*fp32,i32", use_cache=False)
    machines = [load_architecture(name) for name in ("gfx942", "gfx950")]

    jobs = plan(f"{program}::first", machines, options)

    assert [job.request.constexprs["BLOCK"] for job in jobs] == [128, 64]
    assert [job.request.options["num_warps"] for job in jobs] == [4, 4]
    assert all("were not run when the file was imported" in job.notes[0] for job in jobs)


@pytest.mark.triton
def test_analyze(program: Path, kprof: Callable[..., Ran]) -> None:
    """As the command line does it, with the compile in another process; the note stands in the analysis."""
    signature = ("--signature", "*fp32,i32", "--constexpr", "BLOCK=64")
    ran = kprof("analyze", "kernel", f"{program}::second", *signature, "--arch", "MI300X", "-v")

    assert ran.code == 0, ran.err
    assert "were not run when the file was imported" in " ".join(ran.out.split())


@pytest.mark.triton
def test_everything_is_put_back(program: Path) -> None:
    """Triton and torch answer afterwards as before."""
    import torch
    import triton

    before = (torch.version.hip, torch.version.cuda, torch.cuda._lazy_init, sys.meta_path[:])
    load_module(program)

    assert (torch.version.hip, torch.version.cuda, torch.cuda._lazy_init, sys.meta_path) == before
    with pytest.raises(RuntimeError, match="0 active drivers"):
        triton.runtime.driver.active.get_current_target()


@pytest.mark.triton
def test_a_file_that_does_not_ask_is_imported_once(tmp_path: Path) -> None:
    """For all GPUs; one that asks is imported for each."""
    plain, asking = tmp_path / "plain.py", tmp_path / "asking.py"
    plain.write_text("import triton\n")
    asking.write_text("import triton\nTARGET = triton.runtime.driver.active.get_current_target()\n")
    found = {}
    for gpu in ("gfx942", "gfx950"):
        with simulating(gpu):
            found[gpu] = (load_module(plain), load_module(asking))

    assert found["gfx942"][0] is found["gfx950"][0]
    assert [modules[1].TARGET.arch for modules in found.values()] == ["gfx942", "gfx950"]


@pytest.mark.triton
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise ValueError('not about a GPU')\n", "raises ValueError when it is imported: not about a GPU"),
        ("import torch_that_nobody_has\n", "No module named 'torch_that_nobody_has'"),
        ("import torch\nx = torch.ones(1, device='cuda')\n\ndef f(): ...\n", "has no function 'kernel'"),
    ],
)
def test_other_failures_stay_failures(text: str, message: str, tmp_path: Path) -> None:
    """Only what needs a GPU is left out; where the kernel is among it, the message says so."""
    path = tmp_path / "program.py"
    path.write_text(text)

    with pytest.raises(KprofError, match=message) as caught:
        load_function(path, "kernel")

    if "has no function" in message:
        assert "statements at line 2 were not run" in str(caught.value.hint)


def test_torch_that_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With how to get it: any build does."""
    path = tmp_path / "program.py"
    path.write_text("import torch\n")
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(KprofError, match="imports torch, which is not installed") as caught:
        load_module(path)

    assert "pip install torch" in str(caught.value.hint)


def test_a_file_that_only_asks_whether_there_is_a_gpu_is_remembered(tmp_path: Path) -> None:
    """There always is one, whichever it is; what depends on which one it is may not be remembered."""
    path = tmp_path / "asks.py"
    path.write_text("import torch\nDEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'\n")
    module = load_module(path)
    assert module.DEVICE == "cuda"
    assert dependencies_of(module).complete

    path.write_text("import torch\nNAME = torch.cuda.get_device_name()\n")
    assert not dependencies_of(load_module(path)).complete
