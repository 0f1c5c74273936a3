"""Which Triton there is, and what is told when there is none to use."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from kprof.compiler import versions as triton_versions
from kprof.hardware.machine import load
from tests.compiler.conftest import MATMUL, MATMUL_SIGNATURE, SAMPLES

ROOT = SAMPLES.parent.parent.parent

TRY = f"""
    import sys
    sys.path[:0] = [{str(ROOT)!r}]
    from kprof.errors import KprofError
    from kprof.compiler.compile import compile_kernel
    from kprof.compiler.request import CompileRequest
    try:
        compile_kernel(CompileRequest("k.py", "k", "gfx942", {{}}))
    except KprofError as error:
        print(error)
"""


def tried(*paths: Path, hide: bool = False) -> str:
    """What compiling says in a fresh Python that finds packages in these folders first."""
    hidden = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "triton" else find(name, *rest)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    ran = subprocess.run(
        [sys.executable, "-c", (hidden if hide else "") + textwrap.dedent(TRY)],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert ran.stderr == ""
    return ran.stdout


def fake_triton(folder: Path, version: str, *, amd: bool) -> Path:
    """A folder with a package that calls itself Triton."""
    package = folder / "triton"
    (package / "backends" / "amd").mkdir(parents=True)
    (package / "__init__.py").write_text(f'"""Fake."""\n__version__ = "{version}"\n')
    if amd:
        (package / "backends" / "amd" / "compiler.py").write_text("")
    return folder


def test_not_installed():
    """How to get it, and that kprof does not do so by itself."""
    said = tried(hide=True)
    assert "Triton is not installed" in said
    assert 'pip install "triton>=3.4"' in said


@pytest.mark.parametrize("version", ["3.3.1", "2.1.0", "unknown"])
def test_too_old(tmp_path, version):
    """The version found and the one needed."""
    assert f"Triton {version} is too old, kprof needs 3.4 or newer" in tried(fake_triton(tmp_path, version, amd=True))


def test_without_amd_backend(tmp_path):
    """A build for NVIDIA alone."""
    assert "built without the AMD backend" in tried(fake_triton(tmp_path, "3.9.0", amd=False))


def test_broken(tmp_path):
    """A package that cannot be imported is no traceback."""
    assert "Triton 3.9.0 cannot be imported" in tried(fake_triton(tmp_path, "3.9.0", amd=True))


@pytest.mark.triton
def test_installed_one_is_found_without_importing_it():
    """Version and place as Triton itself says, and an identity that stays."""
    import triton

    found = triton_versions.installed()
    assert found.version == triton.__version__
    assert found.root == Path(triton.__file__).parent
    assert found.numbers >= triton_versions.MINIMUM
    assert len(triton_versions.identity()) == 64


@pytest.mark.triton
@pytest.mark.parametrize("arch", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201", "gfx1250"])
def test_wavefront_size_is_tritons(arch):
    """64 lanes before gfx10, 32 since."""
    options = triton_versions.api().hip_options(arch=arch)
    assert triton_versions.warp_size(arch) == options.warp_size


@pytest.mark.parametrize("python", os.environ.get("KPROF_TEST_PYTHONS", "").split(os.pathsep))
def test_with_other_versions(python, tmp_path):
    """The same kernel compiles with each Triton of KPROF_TEST_PYTHONS, a list of Python programs."""
    if not python:
        pytest.skip("KPROF_TEST_PYTHONS names no Python with another Triton")
    code = f"""
        import sys
        sys.path[:0] = [{str(ROOT)!r}]
        from kprof.compiler.compile import compile_many
        from kprof.targets.signature import load_signature
        from kprof.compiler.passes import PassHistory
        from kprof.inputs.mlir import parse
        requests = [
            load_signature({str(SAMPLES)!r}, "matmul", {MATMUL_SIGNATURE!r}, arch, {MATMUL!r}, passes=arch == "gfx942")
            for arch in ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
        ]
        for outcome in compile_many(requests, 2):
            compiled = outcome.result()
            module = parse(compiled.ttgir)
            assert module.arch == compiled.request.arch, module.arch
            assert not module.notes, module.notes
            assert compiled.lds_bytes > 0
            assert compiled.amdgcn.count("s_endpgm") > 0
            if compiled.passes is not None:
                placed = [row["shared"] for row in compiled.passes.table() if row["shared"] is not None]
                assert placed[0] == compiled.lds_bytes
            print(compiled.triton_version, end=" ")
    """
    environment = {**os.environ, "KPROF_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run(
        [python, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=environment, check=False
    )
    assert ran.stderr == ""
    assert len(ran.stdout.split()) == 5


@pytest.mark.triton
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950"])
def test_defaults_are_those_of_the_installed_triton(arch, monkeypatch):
    """The table of switches agrees with what this Triton's own functions say; ``waves_per_eu`` with its option."""
    from inspect import signature

    from triton import knobs
    from triton.backends.amd import compiler

    known, version = load(arch).triton, triton_versions.installed().numbers
    expected = {name: known.is_on(name, version) for name in triton_versions.CODE_SWITCHES}
    for name in expected:
        monkeypatch.delenv(name, raising=False)
    copies = compiler.is_async_copy_enabled(arch) if hasattr(compiler, "is_async_copy_enabled") else None
    copies = bool(knobs.amd.use_async_copy if copies is None else copies)
    pingpong = compiler.is_pingpong_schedule_enabled
    arguments = (arch, copies)[: len(signature(pingpong).parameters)]
    assert list(expected.values()) == [knobs.amd.use_buffer_ops, copies, pingpong(*arguments)]
    default = compiler.HIPOptions(arch=arch).waves_per_eu
    assert triton_versions.waves_per_eu_default(triton_versions.installed().numbers) == default


def test_numbered_arguments_get_their_names():
    """Only the function's own; what loops carry keeps its number. A module that does not fit is left alone."""
    module = "  tt.func public @k(%arg0: i32, %arg1: i32) {\n    scf.for iter_args(%arg2 = %arg1, %arg10 = %arg0)\n"
    named = triton_versions.with_argument_names(module, ["rows", "stride"])
    assert named == module.replace("%arg0:", "%rows:").replace("%arg1:", "%stride:").replace(
        "%arg2 = %arg1, %arg10 = %arg0", "%arg2 = %stride, %arg10 = %rows"
    )
    assert triton_versions.with_argument_names(module, ["rows"]) == module
    assert triton_versions.with_argument_names(named, ["rows", "stride"]) == named
