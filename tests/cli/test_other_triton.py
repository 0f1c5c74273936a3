"""``--triton`` of the commands that compile or record: another process runs the command."""

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kprof.compiler import installations

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="older Tritons look at arguments through torch")

# Without torch, whose import takes longer than all the rest.
PROGRAM = """
import kprof_marker
import triton, triton.language as tl

class Ones:
    dtype, shape = "fp32", (64,)

    def data_ptr(self):
        return 4096

    def ptr_range(self):
        return 256

    def stride(self):
        return (1,)

@triton.jit
def scale(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)

scale[(1,)](Ones(), BLOCK=64)
"""


@pytest.fixture
def another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release whose folder holds the installed Triton, and a module that nothing else has."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "kprof_marker.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(installations, "provide", lambda version, **_: installations.Environment(version, site))
    return site


@pytest.mark.triton
def test_a_kernel_is_compiled_in_another_process(kprof, another: Path, tmp_path: Path) -> None:
    """Its file is imported there, where the folder of the release comes first."""
    text = PROGRAM.partition("scale[")[0]
    (tmp_path / "kernel.py").write_text(text, encoding="utf-8")
    target = f"{tmp_path / 'kernel.py'}::scale"
    command = ("analyze", target, "--signature", "*fp32:16", "--constexpr", "BLOCK=64", "-a", "MI300X")
    alone = kprof(*command)
    assert alone.code == 2
    assert "kprof_marker" in alone.err

    found = kprof(*command, "--triton", "3.6.0", "--json", tmp_path / "a.json")

    assert found.code == 0, found.err
    assert isinstance(json.loads((tmp_path / "a.json").read_text())["kernels"][0]["triton"], str)
    assert "kprof_marker" not in sys.modules


@pytest.mark.triton
def test_gates_and_figures_compile_with_it(kprof, another: Path, tmp_path: Path, monkeypatch) -> None:
    """In the other process, which alone can import the kernel's file."""
    monkeypatch.chdir(tmp_path)
    text = PROGRAM.partition("scale[")[0]
    (tmp_path / "kernel.py").write_text(text, encoding="utf-8")
    config = '[[kernel]]\ntarget = "kernel.py::scale"\narch = ["MI300X"]\nsignature = "*fp32:16"\n'
    (tmp_path / "kprof.toml").write_text(f"{config}constexpr = {{ BLOCK = 64 }}\n", encoding="utf-8")
    assert kprof("check").code == 2
    ran = kprof("check", "--triton", "3.6.0", "--json", "check.json")
    assert ran.code != 2, ran.err
    assert json.loads(Path("check.json").read_text())["verdict"]["status"] != "cannot_tell"

    launch = ("--signature", "*fp32:16", "--constexpr", "BLOCK=64", "-a", "MI300X")
    ran = kprof("occupancy", "kernel.py::scale", *launch, "--triton", "3.6.0", "--json", "occupancy.json")
    assert ran.code == 0, ran.err
    assert "kprof_marker" not in sys.modules


@pytest.mark.triton
def test_a_kept_release_compiles_the_kernel_too(kprof, another: Path, tmp_path: Path, monkeypatch) -> None:
    """The one that is kept here is the same Triton: it has the same time, and the answer is silent about it."""
    monkeypatch.setattr(installations, "known", lambda: ["3.5.0"])
    monkeypatch.setenv("KPROF_TRY", "1")
    found = kprof("analyze", "softmax", "--case", "rows_128", "-a", "MI300X", "--json", tmp_path / "a.json")
    assert found.code == 0, found.err
    (kernel,) = json.loads((tmp_path / "a.json").read_text())["kernels"]
    (other,) = kernel["other_releases"]
    assert (other["triton"], other["time_us"]) == ("3.5.0", kernel["model"]["time_us"])
    assert "with Triton" not in found.out
    monkeypatch.setenv("KPROF_TRY", "0")
    kprof("analyze", "softmax", "--case", "rows_128", "-a", "MI300X", "--json", tmp_path / "a.json")
    assert "other_releases" not in json.loads((tmp_path / "a.json").read_text())["kernels"][0]


@pytest.mark.triton
@needs_torch
def test_a_program_is_recorded_with_it(kprof, another: Path, tmp_path: Path, monkeypatch) -> None:
    """By capture and by analyze: the program finds the release's folder, and the answer names what compiled."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    ran = kprof("capture", "--triton", "3.6.0", "-a", "MI300X", "-o", "recorded", "--json", "c.json", "--",
                "python", "program.py")  # fmt: skip
    assert ran.code == 0, ran.out + ran.err
    assert json.loads(Path("c.json").read_text())["kernels"][0]["triton"]
    ran = kprof("capture", "-t", "3.6.0", "-a", "MI300X", "-o", "again", "--json", "d.json", "python", "program.py")
    assert ran.code == 0, ran.out + ran.err
    assert json.loads(Path("d.json").read_text())["kernels"][0]["name"] == "scale"
    ran = kprof("analyze", "kernel", "program.py", "--triton", "3.6.0", "--json", "a.json", "--")
    assert ran.code == 0, ran.out + ran.err
    assert [kernel["name"] for kernel in json.loads(Path("a.json").read_text())["kernels"]] == ["scale"]
    ran = kprof("profile", "--triton", "3.6.0", "-a", "MI300X", "--json", "p.json", "--", "python", "program.py")
    assert ran.code == 0, ran.out + ran.err
    assert json.loads(Path("p.json").read_text())["tritons"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("analyze kernel kernel.amdgcn --triton installed", "already compiled"),
        ("analyze recorded -t installed", "already compiled"),
        ("profile --triton installed recorded", "already compiled"),
        ("report gemm --triton 3.6.0 --triton 3.9.0 -o page.html", "accepts one --triton"),
        ("analyze gemm --triton newest", "takes a release"),
        ("advise gemm --triton=none.whl", "no such wheel"),
        ("occupancy --vgpr 100 --triton installed", "needs a target to compile"),
        ("occupancy kernel.amdgcn --triton installed", "already compiled"),
        ("check --triton 3.4.0,3.6.0", "accepts one --triton"),
    ],
)
def test_what_another_triton_cannot_do_is_refused(
    kprof, tmp_path: Path, monkeypatch, command: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernel.amdgcn").write_text("", encoding="utf-8")
    (tmp_path / "recorded").mkdir()
    capture = '{"schema": "kprof.capture/1", "arch": "gfx942"}'
    (tmp_path / "recorded" / "capture.json").write_text(capture, encoding="utf-8")
    ran = kprof(*command.split())
    assert ran.code == 2
    assert message in ran.err


@pytest.mark.triton
@pytest.mark.slow
def test_an_older_release_compiles(kprof, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a release that an earlier ``kprof diff`` has put into the cache that KPROF_TEST_CACHE names."""
    cache = os.environ.get("KPROF_TEST_CACHE")
    if not cache:
        pytest.skip("KPROF_TEST_CACHE names no cache with Triton 3.6.0")
    monkeypatch.setenv("KPROF_CACHE_DIR", cache)
    assert kprof("analyze", "softmax", "-a", "MI300X", "--triton", "3.6.0", "--json", tmp_path / "a.json").code == 0
    assert json.loads((tmp_path / "a.json").read_text())["kernels"][0]["triton"] == "3.6.0"
