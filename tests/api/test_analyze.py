"""``kprof.analyze`` and ``kprof.report``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.errors import CompileError, HardwareError, InputError, KprofError, TargetError

SOURCE = '''"""A kernel without a KERNEL."""

import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x * 2, mask=offsets < n)
'''


def plain(text: str) -> Any:
    """A document without what differs from run to run."""
    document = json.loads(text)
    for kernel in document["kernels"]:
        kernel.pop("compile_seconds", None)
        kernel.pop("cached", None)
    return document


def test_a_compiled_file_is_read_as_the_command_does(compiled: Path, run: Callable[..., Any]) -> None:
    written = run("analyze", "kernel", compiled, "--json", "-")

    found = kprof.analyze(compiled)

    assert plain(found.to_json()) == plain(written.out)
    assert found.ok
    assert found.kernels[0].name == "matmul"
    assert (
        found.kernels[0].occupancy.waves_per_simd
        == json.loads(written.out)["kernels"][0]["occupancy"]["waves_per_simd"]
    )
    assert found.findings == found.kernels[0].findings


def test_frames_have_a_row_a_kernel_and_a_row_a_finding(compiled: Path) -> None:
    found = kprof.analyze(compiled)

    (row,) = found.to_frame().to_dict("records")
    kernel = found.kernels[0]
    assert (row["name"], row["vgpr"], row["lds_bytes"]) == ("matmul", kernel.resources.vgpr, 16384)
    assert row["waves_per_simd"] == kernel.occupancy.waves_per_simd
    assert row["errors"] + row["warnings"] + row["notes"] == len(found.findings)
    assert list(found.to_frame("findings")["rule"]) == [finding.rule for finding in found.findings]
    with pytest.raises(KprofError, match="'loops'"):
        found.to_frame("loops")


def test_a_page_has_the_instructions_and_a_saved_report_has_not(compiled: Path, tmp_path: Path) -> None:
    found = kprof.analyze(compiled)
    page = found.save(tmp_path / "page.html").read_text()
    again = kprof.analyze(found.save(tmp_path / "saved.json"))

    assert "s_endpgm" in page
    assert "s_endpgm" not in kprof.analyze(compiled, keep_programs=False).to_html()
    assert plain(again.to_json())["kernels"] == plain(found.to_json())["kernels"]
    assert kprof.report(compiled, output=tmp_path / "other.html").summary == found.summary
    assert (tmp_path / "other.html").read_text() == page


def test_failures_raise_or_are_kept(compiled: Path, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="no such"):
        kprof.analyze(tmp_path / "none.amdgcn")
    with pytest.raises(TargetError, match="nothing to analyse"):
        kprof.analyze()
    with pytest.raises(HardwareError, match="no architecture"):
        kprof.analyze(compiled, arch="gfx0")
    with pytest.raises(TargetError, match="does not use --config"):
        kprof.analyze(compiled, config={"BLOCK": 1})
    with pytest.raises(TargetError, match="no kernel 'matmal'"):
        kprof.analyze(compiled, kernel="matmal")
    with pytest.raises(KprofError, match="--fail-on"):
        kprof.analyze(compiled, fail_on="grave")
    (tmp_path / "cut.json").write_text('{"schema": "kprof.report/1"')
    with pytest.raises(InputError, match="not a complete JSON document"):
        kprof.analyze(tmp_path / "cut.json")

    kept = kprof.analyze(compiled, tmp_path / "none.amdgcn", keep_going=True)

    assert [kernel.name for kernel in kept.kernels] == ["matmul"]
    assert [type(failure) for failure in kept.failures] == [TargetError]
    assert kept.document.verdict.status == "cannot_tell"


def test_a_verdict_can_be_asked_for(compiled: Path) -> None:
    found = kprof.analyze(compiled, fail_on="note")

    assert found.ok == (not found.findings)


@pytest.mark.triton
def test_a_function_of_a_module_is_compiled(
    tmp_path: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "of_a_user.py"
    path.write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    from of_a_user import scale

    found = kprof.analyze(scale, arch="gfx942", signature="*fp16,*fp16,i32", constexpr={"BLOCK": 1024}, grid=(4096,))

    assert found.kernels[0].occupancy.waves_per_simd == 8
    assert found.kernels[0].launch == {"grid": [4096]}
    options = ("--arch", "gfx942", "--signature", "*fp16,*fp16,i32", "--constexpr", "BLOCK=1024", "--grid", "4096")
    written = run("analyze", "kernel", f"{path}::scale", *options, "--json", "-")
    assert plain(found.to_json()) == plain(written.out)
    (tmp_path / "stages").mkdir()
    kprof.analyze(f"{path}::scale", signature="*fp16,*fp16,i32", constexpr={"BLOCK": 1024}, dump=tmp_path / "stages")
    assert {file.suffix for file in (tmp_path / "stages").iterdir()} >= {".ttir", ".ttgir", ".amdgcn"}


@pytest.mark.triton
def test_a_kernel_that_does_not_compile_is_a_compile_error(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(SOURCE.replace("x * 2", "nowhere"))
    with pytest.raises(CompileError, match="nowhere"):
        kprof.analyze(f"{path}::scale", signature="*fp16,*fp16,i32", constexpr={"BLOCK": 1024})


@pytest.mark.triton
def test_a_bundled_kernel_is_compiled(run: Callable[..., Any]) -> None:
    written = run("analyze", "kernel", "softmax", "--arch", "MI300X", "--json", "-")

    found = kprof.analyze("softmax", arch="MI300X")

    assert plain(found.to_json()) == plain(written.out)
    assert found.kernels[0].model.time_us == json.loads(written.out)["kernels"][0]["model"]["time_us"]
    assert '"ph"' in found.timeline()
