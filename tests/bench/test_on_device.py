"""What only a real GPU can show; skipped without one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="a GPU is used through torch")
pytest.importorskip("triton", reason="kernels are Triton")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

ROOT = Path(__file__).parents[2]
KERNELS = Path(__file__).with_name("bench_kernels")


def bench(tmp_path: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, the document and what was printed."""
    target = tmp_path / "result.json"
    command = [sys.executable, "-m", "kprof", "bench", *arguments, "--json", str(target), "--rep-ms", "10"]
    command += ["--no-measure-limits"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=600)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(target.read_text()), done.stdout


def test_right_result_is_timed(tmp_path: Path) -> None:
    """Errors, times with their spread, and rates."""
    code, document, _ = bench(tmp_path, "rmsnorm_residual_fp8", "--case", "llama405b_m64,llama405b_m2048")

    assert code == 0
    assert [m["provider"] for m in document["measurements"]] == ["triton", "torch"] * 2
    for found in document["measurements"]:
        timing = found["timing"]
        assert 0 < timing["least"] <= timing["p10"] <= timing["median"] <= timing["p90"]
        assert timing["samples"] >= 20
        assert found["gbs"] > 0
        assert all(e["mismatched"] == 0 for e in found["errors"])


def test_wrong_result_names_the_element(tmp_path: Path) -> None:
    """The last element of a block of 1024 is not written; poisoned memory shows it. Exit 1."""
    code, document, printed = bench(tmp_path, str(KERNELS / "wrong.py"))
    error = document["measurements"][0]["errors"][0]

    assert code == 1
    assert document["measurements"][0].get("timing") is None
    assert error["index"][0] % 1024 == 1023
    assert error["mismatched"] == 4
    assert f"target[{error['index'][0]}]: expected" in " ".join(printed.split())


def test_a_crashing_kernel_leaves_the_others_alone(tmp_path: Path) -> None:
    """The middle one writes outside its memory; those before and after are measured. Exit 2."""
    code, document, _ = bench(tmp_path, str(KERNELS / "crash.py"), "--case", "all")

    assert code == 2
    assert [m["status"] for m in document["measurements"]] == ["ok", "crashed", "ok"]


def test_out_of_memory_is_said(tmp_path: Path) -> None:
    """With the shape and what was free; the process goes on."""
    code, document, _ = bench(tmp_path, "memory_copy", "--shape", "N=1099511627776", "--provider", "triton")
    found = document["measurements"][0]

    assert code == 2
    assert found["status"] == "out_of_memory"
    assert "N=1099511627776" in found["message"]
    assert "GiB were free" in found["message"]


def test_tuned_is_the_fastest_of_the_listed(tmp_path: Path) -> None:
    """And the dispatch table gets it."""
    table = tmp_path / "table.json"
    code, document, _ = bench(
        tmp_path, "swiglu_fp8", "--case", "llama405b_m512", "--provider", "triton,tuned", "--write-table", str(table)
    )
    entry = json.loads(table.read_text())["entries"][0]

    assert code == 0
    times = {m["provider"]: m["timing"]["median"] for m in document["measurements"]}
    assert entry["ms"] == min(times.values())
    assert entry["implementation"] == "swiglu_fp8"
    assert set(entry["config"]) >= {"BLOCK_N", "num_warps"}


def test_profile_writes_a_trace_with_the_kernel(tmp_path: Path) -> None:
    """Ten calls of it."""
    code, document, _ = bench(tmp_path, "softmax", "--provider", "triton", "--profile", str(tmp_path / "traces"))
    trace = json.loads(Path(document["measurements"][0]["trace"]).read_text())
    kernels = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]

    assert code == 0
    assert sum("softmax" in k["name"] for k in kernels) == 10
