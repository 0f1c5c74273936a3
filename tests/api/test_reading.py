"""``kprof.read_trace`` and ``kprof.read_counters``."""

import json
from pathlib import Path

import pytest

import kprof
from kprof.errors import InputError

pytest.importorskip("pandas")

EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 1.0, "dur": 9.0,
     "args": {"External id": 3}},
    {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 7, "tid": 7, "ts": 2.0, "dur": 1.0,
     "args": {"External id": 3, "correlation": 5}},
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 1, "ts": 20.0, "dur": 4.5,
     "args": {"External id": 3, "correlation": 5, "device": 0, "stream": 1, "grid": [8, 1, 1], "block": [256, 1, 1]}},
]  # fmt: skip


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": EVENTS}))
    return path


def test_a_trace_becomes_linked_frames(trace: Path) -> None:
    found = kprof.read_trace(trace)

    kernel = found.kernels.iloc[0]
    assert (kernel["name"], kernel["start_ns"], kernel["duration_ns"]) == ("gemm", 20_000, 4_500)
    assert found["launches"].iloc[kernel["launch"]]["name"] == "hipLaunchKernel"
    assert found.operators.iloc[kernel["operator"]]["name"] == "aten::mm"
    assert "kernels" in found
    assert "kernels" in dir(found)
    assert "kernels 1" in repr(found)
    assert found.info.path == str(trace)


def test_a_folder_with_one_trace_is_that_trace(trace: Path) -> None:
    assert len(kprof.read_trace(trace.parent).kernels) == 1
    (trace.parent / "other.json").write_bytes(trace.read_bytes())
    with pytest.raises(InputError, match="2 traces"):
        kprof.read_trace(trace.parent)


def test_what_was_lost_is_told(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(json.dumps({"traceEvents": EVENTS})[:-60])

    found = kprof.read_trace(path)

    assert any("cut" in issue.message or "end" in issue.message for issue in found.issues)


def test_no_trace_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        kprof.read_trace(tmp_path / "none.json")
    (tmp_path / "empty.json").write_text("")
    with pytest.raises(InputError, match="empty"):
        kprof.read_trace(tmp_path / "empty.json")


def test_counters_become_frames(tmp_path: Path) -> None:
    """Rocprof's first format: a row a dispatch, a column a counter."""
    path = tmp_path / "results.csv"
    path.write_text(
        '"Index","KernelName","gpu-id","queue-id","queue-index","pid","tid","grd","wgr","lds","scr","arch_vgpr",'
        '"accum_vgpr","sgpr","wave_size","sig","obj","SQ_WAVES","DispatchNs","BeginNs","EndNs","CompleteNs"\n'
        '0,"gemm(float*) [clone .kd]",0,0,0,1,1,4096,256,0,0,32,0,48,64,"0x0","0x0",64.0000000000,1,100,600,700\n'
    )

    found = kprof.read_counters(path)

    assert [source.tool for source in found.sources] == ["rocprof"]
    row = found.counters.iloc[0]
    assert (row["counter"], row["value"]) == ("SQ_WAVES", 64)
    assert found["kernels"].iloc[0]["total_ns"] == 500
    assert {"dispatches", "counters", "kernels"} <= set(found)
    with pytest.raises(AttributeError, match="no table 'nothing'"):
        _ = found.nothing
    with pytest.raises(KeyError):
        found["nothing"]


def test_no_counters_are_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing measured\n")
    with pytest.raises(InputError, match=r"no measurement|no known"):
        kprof.read_counters(tmp_path)
    with pytest.raises(InputError):
        kprof.read_counters(tmp_path / "notes.txt")
