"""A small version of ``validation/check_isa_reader.py``: the fixtures, and a few kernels compiled on the spot."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
ARTIFACTS = ROOT / "tests" / "artifacts"
# LLVM 19 knows these; newer assemblers know all of them, older ones may refuse what a newer compiler wrote.
FILES = sorted(
    [*ARTIFACTS.glob("*/*.clang-19.s"), *ARTIFACTS.glob("gfx9[04]*/*.amdgcn"), *ARTIFACTS.glob("gfx1[01]*/*.amdgcn")]
)


def script(path: Path) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sweep() -> ModuleType:
    """The sweep script."""
    return script(ROOT / "validation" / "check_isa_reader.py")


@pytest.mark.llvm
def test_fixtures_agree_with_the_assembler(sweep: ModuleType, llvm_mc: str) -> None:
    """Same instructions as llvm-objdump finds in the assembled object, all of them known."""
    available = sweep.tools([llvm_mc])
    if not available.pairs:
        pytest.skip("llvm-mc is installed without its llvm-objdump")
    outcomes = [sweep.check(file.name, file.read_text(), available) for file in FILES]
    assert [outcome for outcome in outcomes if outcome.equal is False] == []
    assert sum(outcome.unknown for outcome in outcomes) == 0
    decided = [outcome for outcome in outcomes if outcome.equal]
    assert len(decided) >= 10
    assert sum(outcome.instructions for outcome in decided) > 4000


@pytest.mark.llvm
def test_the_comparison_notices_a_missing_instruction(sweep: ModuleType) -> None:
    """Taking one instruction out of the disassembly is a difference."""
    from kprof.inputs import amdgcn

    assembly = amdgcn.read_file(ARTIFACTS / "gfx908" / "scaled_exp.triton-3.9.0.amdgcn")
    (kernel,) = assembly.kernels
    listed = [instruction.opcode.name for instruction in kernel.instructions]
    assert sweep.difference(assembly, {kernel.name: listed}) == ""
    assert "llvm-objdump" in sweep.difference(assembly, {kernel.name: listed[:-1]})
    assert "instruction 0" in sweep.difference(assembly, {kernel.name: ["s_nop", *listed[1:]]})


@pytest.mark.triton
@pytest.mark.slow
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1250"])
def test_the_installed_triton_is_understood(arch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that this Triton compiles are classified completely and lead to the user's lines."""
    from kprof.inputs import amdgcn

    folder = ROOT / "tests" / "inputs" / "amdgcn" / "corpus"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    compiler = script(folder / "compile_triton.py")
    cases = compiler.load_cases()
    for name in ("softmax", "atomics"):
        compiler.compile_case(name, cases[name], arch, tmp_path)
        assembly = amdgcn.read_file(tmp_path / f"{name}.{arch}.amdgcn", strict=True)
        (kernel,) = assembly.kernels
        assert assembly.coverage == 1.0
        frames = [i.user_frame for i in kernel.instructions]
        known = [frame for frame in frames if frame is not None]
        assert len(known) > len(frames) / 2
        assert {Path(frame.file).name for frame in known} == {"triton_kernels.py"}
