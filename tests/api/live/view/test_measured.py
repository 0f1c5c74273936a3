"""What was measured stands beside what is modelled, on the same lines."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kprof
from kprof.inputs import amdgcn
from tests.api.live.view.conftest import ASSEMBLY

MATMUL = ASSEMBLY.with_name("matmul.triton-3.9.0.amdgcn")


@pytest.fixture(scope="module")
def traced(view, tmp_path_factory):
    """The page of a kernel with a thread trace of it: each instruction took 7 cycles, its matrix products 70."""
    folder = tmp_path_factory.mktemp("traced")
    shutil.copy(MATMUL, folder / "k.amdgcn")
    write_trace(folder / "trace.csv", MATMUL)
    return view("k.amdgcn", "--thread-trace", "trace.csv", folder=folder)


def write_trace(path: Path, assembly: Path) -> None:
    program = amdgcn.parse(assembly.read_text()).kernels[0]
    lines = ["CodeObj, Vaddr, Instruction, Hitcount, Latency, Source"]
    for at, one in enumerate(program.instructions):
        cycles = 70 if one.opcode.cls is amdgcn.InstructionClass.MATRIX else 7
        text = one.text.strip().replace("\t", " ")
        lines.append(f'1, {4096 + 4 * at}, "{text}", 1, {cycles}, ')
    path.write_text("\n".join(lines) + "\n")


def test_each_instruction_has_its_measured_share(traced):
    status, listing = traced.ask("/api/listing", target=0, stage="amdgcn")
    assert status == 200
    shown = [line for line in listing["lines"] if line[0] is not None]
    assert sum(line[7] for line in shown) == pytest.approx(1)
    assert all((line[7] == max(other[7] for other in shown)) == (line[4] == "matrix") for line in shown)
    status, source = traced.ask("/api/listing", target=0, stage="python")
    assert sum(line[7] or 0 for line in source["lines"]) <= 1.0001


def test_the_report_is_joined(traced):
    """As ``kprof analyze kernel --thread-trace`` joins it."""
    status, document = traced.ask("/api/report", target=0)
    assert status == 200
    direct = kprof.analyze(traced.folder / "k.amdgcn", thread_trace=traced.folder / "trace.csv")
    assert document["kernels"][0]["measured"] == json.loads(direct.to_json())["kernels"][0]["measured"]
    assert document["kernels"][0]["measured"]["loops"][0]["by_line"]


def test_a_trace_of_another_program_is_told(view, tmp_path):
    """The rest is answered."""
    shutil.copy(ASSEMBLY, tmp_path / "k.amdgcn")
    write_trace(tmp_path / "trace.csv", MATMUL)
    server = view("k.amdgcn", "--thread-trace", "trace.csv", folder=tmp_path)
    status, listing = server.ask("/api/listing", target=0, stage="amdgcn")
    assert status == 200
    assert any("no measured time: the thread trace is of other instructions" in note for note in listing["notes"])
    assert all(line[7] is None for line in listing["lines"])
    assert server.ask("/api/report", target=0)[0] == 200


def test_a_file_that_cannot_be_read_ends_it_at_once(tmp_path):
    pytest.importorskip("uvicorn", reason="the page's server is not installed")
    (tmp_path / "trace.csv").write_text("nothing of the kind\n")
    shutil.copy(ASSEMBLY, tmp_path / "k.amdgcn")
    command = [sys.executable, "-m", "kprof", "view", "k.amdgcn", "--thread-trace", "trace.csv", "--no-browser"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "trace.csv" in ended.stderr
    assert "Traceback" not in ended.stderr
