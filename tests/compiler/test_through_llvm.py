"""LLVM IR of one release of Triton through the LLVM of another; both are the installed one here."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from kprof.compiler import versions
from kprof.compiler.in_process import assembly_of
from kprof.compiler.request import CompileRequest
from kprof.document import KernelReport
from kprof.errors import CompileError
from kprof.options.groups import CompileOptions
from kprof.tuning.trials import serve

pytestmark = pytest.mark.triton


def question(ask: str, **more: Any) -> dict[str, Any]:
    options = msgspec.to_builtins(CompileOptions(case="rows_128"))
    return {"ask": ask, "target": "softmax", "options": options, "arch": "MI300X", "config": {"num_warps": 8}, **more}


@pytest.fixture(scope="module")
def stages() -> dict[str, Any]:
    (found,) = serve._answers(question("stages"))
    return dict(found["stages"])


def test_its_own_llvm_ir_gives_its_own_code(stages: dict[str, Any]) -> None:
    """The oracle is the compile in one go: the same figures, loops and time."""
    (code,) = serve._answers(question("through_llvm", stages=stages))
    (trial,) = serve._answers(question("trials", changes=[{}], seconds=60.0))
    through, whole = code["report"], trial["report"]
    assert isinstance(through, KernelReport)
    for name in ("resources", "occupancy", "loops", "instructions", "model", "product"):
        assert getattr(through, name) == getattr(whole, name), name


def test_switches_of_a_product_are_those_of_its_architecture() -> None:
    """A question names the GPU that times are predicted for."""
    (by_product,) = serve._answers({"ask": "switches", "arch": "MI355X"})
    (by_architecture,) = serve._answers({"ask": "switches", "arch": "gfx950"})
    assert by_product == by_architecture
    assert by_product["switches"]["TRITON_HIP_USE_ASYNC_COPY"] is (versions.api().numbers >= (3, 8))


def test_what_is_no_llvm_ir_is_refused() -> None:
    request = CompileRequest("k.py", "k", "gfx942", {"x": "*fp32"})
    with pytest.raises(CompileError, match="cannot compile it"):
        assembly_of(versions.api(), request, "not LLVM IR")


def test_a_captures_kernel_too(tmp_path: Path) -> None:
    """Its TTIR is compiled again."""
    import subprocess

    pytest.importorskip("torch")
    from tests.recording.conftest import capture_command, kprof_environment

    command = capture_command(tmp_path / "capture", "--arch=MI300X", "narrow_step.py")
    assert subprocess.run(command, env=kprof_environment(), check=False).returncode == 0
    asked = {**question("stages"), "target": f"{tmp_path / 'capture'}::matmul"}
    (found,) = serve._answers(asked)
    (code,) = serve._answers({**asked, "ask": "through_llvm", "stages": found["stages"]})
    assert code["report"].name == "matmul"
    assert code["report"].instructions
