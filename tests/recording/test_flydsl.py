"""Launches of FlyDSL, with a stand-in for the package, and with FlyDSL itself where it is installed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.captures.reader import launches, read
from kprof.inputs.amdgcn.arguments import KernelArgument
from kprof.recording.language_kernels import LanguageKernel, words_of
from kprof.targets.captured import load_capture
from tests.recording.conftest import kprof_environment

STAND_INS = Path(__file__).with_name("stand_ins")

PROGRAM = """\
import flydsl.autotune
from flydsl.compiler.jit_function import JitFunction
from flydsl.compiler.kernel_function import kernel


@kernel
def scale(x, n):
    x[0] = n


def launch(x, n):
    pass


def needs_erf(x, n):
    pass


run = JitFunction(launch, scale)
flydsl.autotune.do_bench(lambda: run("pointer", 2560))
run("pointer", 512)
run("pointer", 1024)
"""


def capture(folder: Path, program: str, *options: str, path: Path = STAND_INS) -> "subprocess.CompletedProcess[str]":
    """Record a program with a package of FlyDSL in ``path``."""
    file = folder / "program.py"
    file.write_text(program, encoding="utf-8")
    environment = kprof_environment()
    environment["PYTHONPATH"] = os.pathsep.join([str(path), environment["PYTHONPATH"]])
    start = [sys.executable, "-m", "kprof", "capture", "--arch", "gfx950", "--force", "-o", str(folder / "capture")]
    command = [*start, *options, "--", sys.executable, str(file)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The capture of the program, and what the command printed."""
    folder = tmp_path_factory.mktemp("flydsl")
    ran = capture(folder, PROGRAM)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder / "capture", ran.stdout


def test_launches_have_grid_workgroup_and_values(recorded):
    """The trial of the autotuner compiles the kernel and is no launch of the program."""
    folder, _ = recorded
    found = list(launches(folder))
    assert [(one.sequence, one.grid) for one in found] == [(0, (2, 2, 1)), (1, (4, 2, 1))]
    assert [dict(one.arguments) for one in found] == [
        {"x": "pointer", "n": 512, "kernarg[8]": 512},
        {"x": "pointer", "n": 1024, "kernarg[8]": 1024},
    ]
    assert found[1].caller is not None
    assert (Path(found[1].caller.file).name, found[1].caller.line) == ("program.py", 22)


def test_resources_are_those_of_the_compiler_and_of_the_launch(recorded):
    """The stand-in's compiler writes 37 VGPRs, 22 SGPRs and 1,024 bytes of LDS; the launch adds 8,192 bytes."""
    folder, _ = recorded
    (kernel,) = load_capture(folder)
    assert (kernel.name, kernel.compiler, kernel.triton) == ("scale_0", "FlyDSL 9.9", None)
    assert (kernel.program.registers.vgpr, kernel.program.registers.sgpr) == (37, 22)
    assert (kernel.metadata["shared"], kernel.metadata["num_warps"]) == (1024 + 8192, 4)
    assert kernel.specialization.options == {"block": "256x1x1", "dynamic_lds": 8192}
    assert kernel.source is not None
    assert (Path(kernel.source.file).name, kernel.source.line) == ("program.py", 6)
    (store,) = [one for one in kernel.program.instructions if one.opcode.mnemonic.startswith("ds_write")]
    assert store.source is not None
    assert store.source.frames[0].line == 8


def test_capture_names_the_compiler(recorded):
    """The first line names FlyDSL, not Triton, which the program does not use."""
    folder, text = recorded
    assert "FlyDSL 9.9" in text.splitlines()[0]
    assert "Triton" not in text.splitlines()[0]
    assert read(folder).left_out == []


def test_analysis_of_the_capture(recorded):
    """Occupancy follows from the LDS of the launch, and the report names FlyDSL."""
    folder, _ = recorded
    command = [sys.executable, "-m", "kprof", "analyze", "kernel", str(folder), "--json", "-"]
    ran = subprocess.run(command, capture_output=True, text=True, env=kprof_environment(), check=False)
    (kernel,) = json.loads(ran.stdout)["kernels"]
    assert kernel["compiler"] == "FlyDSL 9.9"
    assert kernel["resources"]["lds_bytes"] == 9216
    assert kernel["launch"]["grid"] == [2, 2, 1]
    assert kernel["model"]["time_us"] > 0


def test_other_version_is_named_in_the_first_lines(tmp_path):
    """A FlyDSL without one of the patched parts runs as it is; the capture says which part it lacks."""
    package = tmp_path / "other" / "flydsl" / "compiler"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text('__version__ = "0.0.1"\n', encoding="utf-8")
    for name in ("__init__", "jit_executor", "jit_function", "kernel_function"):
        (package / f"{name}.py").write_text("", encoding="utf-8")
    ran = capture(tmp_path, "import flydsl.compiler\n", path=package.parent.parent)
    assert ran.stdout.splitlines()[1] == (
        "launches of FlyDSL kernels are not in this capture: FlyDSL 0.0.1 has no module flydsl.compiler.backends.rocm"
    )
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr


def test_missing_libraries_are_named_and_counted(tmp_path):
    """Without ROCm and Triton, a kernel that needs functions of their libraries is left out by name."""
    lines = [
        "import importlib.util as util",
        "util.find_spec = lambda name, find=util.find_spec: None if name == 'triton' else find(name)",
        PROGRAM,
        "other = JitFunction(launch, kernel(needs_erf))",
        "other('pointer', 512)",
        "other('pointer', 512)",
    ]
    ran = capture(tmp_path, "\n".join(lines))
    if Path("/opt/rocm/amdgcn/bitcode").is_dir():
        pytest.skip("ROCm is installed here")
    second = ran.stdout.splitlines()[1]
    assert second.startswith("2 launches of FlyDSL kernels are not in this capture: FlyDSL 9.9 needs ROCm's")
    assert ran.returncode == 0
    assert read(tmp_path / "capture").launch_count == 2
    (kernel,) = load_capture(tmp_path / "capture")
    assert "2 launches of FlyDSL kernels" in (kernel.unrecorded or "")
    strict = capture(tmp_path, "\n".join(lines), "--strict")
    assert strict.returncode == 2


def test_kernel_in_metadata_with_several():
    """Fields and arguments come from the entry with the kernel's name."""
    entry = "  - .args:\n      - .offset:         {at}\n        .size:           12\n"
    entry += "        .value_kind:     by_value\n"
    entry += "    .group_segment_fixed_size: {lds}\n    .name:           {name}\n"
    first, second = entry.format(at=0, lds=16, name="a_0"), entry.format(at=8, lds=32, name="a_01")
    text = f"\t.amdgpu_metadata\n---\namdhsa.kernels:\n{first}{second}amdhsa.target: amdgcn-amd-amdhsa--gfx942\n...\n"
    text += "\t.end_amdgpu_metadata\n"
    kernel = LanguageKernel("a_01", "Other 1", text, (100, 2, 1), 8)
    assert kernel.arguments == (KernelArgument("arg0", 8, 12, "by_value"),)
    assert kernel.arch == "gfx942"
    assert kernel.metadata(64) == {"name": "a_01", "shared": 40, "num_warps": 4, "warp_size": 64}
    values = words_of(kernel.arguments[0], b"\x01\x00\x00\x00\xff\xff\xff\xff\x00\x02\x00\x00")
    assert values == {"kernarg[8]": 1, "kernarg[12]": -1, "kernarg[16]": 512}


REAL = """\
import torch
import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel
def copy_kernel(a: fx.Tensor, c: fx.Tensor):
    place = fx.thread_idx.x + fx.block_idx.x * 256
    source = fx.logical_divide(fx.rocdl.make_buffer_tensor(a), fx.make_layout(1, 1))
    target = fx.logical_divide(fx.rocdl.make_buffer_tensor(c), fx.make_layout(1, 1))
    atom = fx.make_copy_atom(fx.rocdl.BufferCopy32b(), fx.Float32)
    held = fx.make_rmem_tensor(fx.make_layout(1, 1), fx.Float32)
    fx.copy_atom_call(atom, fx.slice(source, (None, place)), held)
    fx.copy_atom_call(atom, held, fx.slice(target, (None, place)))


@flyc.jit
def copy(a: fx.Tensor, c: fx.Tensor, n: fx.Int32, stream: fx.Stream = fx.Stream(None)):
    copy_kernel(a, c).launch(grid=(n // 256, 1, 1), block=(256, 1, 1), stream=stream)


a = torch.zeros(4096, device="cuda")
copy(a, torch.empty_like(a), 4096)
"""


def test_flydsl_itself(tmp_path):
    """FlyDSL compiles without ROCm, a linker or a GPU; each lane loads and stores 4 bytes."""
    pytest.importorskip("flydsl")
    pytest.importorskip("torch")
    ran = capture(tmp_path, REAL, path=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (launch,) = launches(tmp_path / "capture")
    assert launch.grid == (16, 1, 1)
    assert launch.arguments["a"].shape == (4096,)
    (kernel,) = load_capture(tmp_path / "capture")
    assert kernel.compiler is not None
    assert kernel.compiler.startswith("FlyDSL ")
    assert kernel.arch.name == "gfx950"
    loads = [one for one in kernel.program.instructions if one.opcode.mnemonic.startswith("buffer_load_dword")]
    assert [one.source.frames[0].line for one in loads if one.source is not None] == [13]
