"""What of a capture goes to a compiler again: text and plain values, nothing that could be run."""

import pytest

from kprof.errors import KprofError
from kprof.targets.recompile import changed, is_recorded, recorded
from tests.captures.conftest import END, ID, KERNEL, LAUNCH, REQUEST, make

__all__ = ["make"]  # a fixture
OK = {"status": "ok", "triton": "3.9.0"}


def test_the_recorded_text_is_compiled_and_no_file_of_the_program(make):
    """With the recorded knobs; the path of the function is not asked for."""
    root = make([KERNEL, LAUNCH, END], result=OK, ttir="module {}")
    assert is_recorded(str(root))
    ((each,), lost) = recorded(str(root))
    assert not lost
    assert each.target == f"{root}::{ID}"
    assert each.job.request.path == str(root / "kernels" / ID / "kernel.ttir")
    assert (each.job.grid, each.job.request.options) == ((4, 1, 1), {"num_warps": 4, "num_stages": 2})
    assert each.knobs == {"BLOCK": 64, "num_warps": 4, "num_stages": 2}
    assert [r.kernel.id for r in recorded(each.target)[0]] == [ID]


def test_paths_do_not_reach_the_compiler(make):
    """A linker, a plug-in or a library that a capture names would be run."""
    hostile = {
        **REQUEST,
        "options": {"num_warps": 4, "schedule_hint": "none", "extra": "/tmp/evil.bc", "libs": {"tuple": ["../evil"]}},
        "environment": {
            "TRITON_HIP_LLD_PATH": "evil",
            "LLVM_PASS_PLUGIN_PATH": "evil.so",
            "MLIR_ENABLE_DUMP": "1",
            "TRITON_HIP_USE_ASYNC_COPY": "0",
            "TRITON_F32_DEFAULT": "a/b",
        },
    }
    root = make([{**KERNEL, "request": hostile}, LAUNCH, END], result=OK, ttir="module {}")
    ((each,), _) = recorded(str(root))
    assert each.job.request.options == {"num_warps": 4, "schedule_hint": "none"}
    assert each.job.request.environment == {"TRITON_HIP_USE_ASYNC_COPY": "0"}


def test_changes_go_to_options_and_switches(make):
    """Switches are told by their capitals."""
    root = make([KERNEL, LAUNCH, END], result=OK, ttir="module {}")
    ((each,), _) = recorded(str(root))
    request = changed(each, {"num_stages": 1, "AMDGCN_USE_BUFFER_OPS": "0"}).request
    assert request.options == {"num_warps": 4, "num_stages": 1}
    assert request.environment == {"AMDGCN_USE_BUFFER_OPS": "0"}


def test_what_cannot_be_compiled_again_is_said(make, tmp_path):
    """Without TTIR, or with a link in its place; another architecture; another kernel."""
    root = make([KERNEL, LAUNCH, END], result=OK)
    found, lost = recorded(str(root))
    assert not found
    assert "does not contain its TTIR" in lost["f"]
    (tmp_path / "elsewhere").write_text("module {}")
    (root / "kernels" / ID / "kernel.ttir").symlink_to(tmp_path / "elsewhere")
    assert "link" in recorded(str(root))[1]["f"]
    with pytest.raises(KprofError, match="recorded for gfx942, not for gfx950"):
        recorded(str(root), ["gfx950"])
    with pytest.raises(KprofError, match="no kernel 'ff' in this capture"):
        recorded(f"{root}::ff")
