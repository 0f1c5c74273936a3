"""What the page is told."""

import http.client
import json
import re
import shutil
import subprocess
import sys
import time

import pytest

import kprof
from kprof.api.live.view import serving
from kprof.errors import KprofError
from kprof.options.kernels import ViewOptions
from tests.api.live.view.conftest import ASSEMBLY


def test_without_the_server(monkeypatch):
    """One sentence that says what to install."""
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(KprofError, match="the page's server is not installed") as missing:
        serving.serve(["gemm"], ViewOptions())
    assert missing.value.hint.startswith("pip install 'starlette>=")


def test_a_target_that_does_not_exist_is_told_at_once(tmp_path):
    pytest.importorskip("uvicorn", reason="the page's server is not installed")
    command = [sys.executable, "-m", "kprof", "view", "gemmm", "--no-browser"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "gemm" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_report_is_the_one_of_the_command_line(assembly):
    """The same document as ``kprof analyze kernel --json``."""
    status, document = assembly.ask("/api/report", target=0, arch="MI300X")
    assert status == 200
    direct = json.loads(kprof.analyze(assembly.folder / "k.amdgcn", arch="MI300X").to_json())
    assert document["kernels"][0]["resources"] == direct["kernels"][0]["resources"]
    assert document["kernels"][0]["findings"] == direct["kernels"][0]["findings"]
    assert document["verdict"] == direct["verdict"]


def test_what_is_compiled_already_has_no_knobs(assembly):
    status, sheet = assembly.ask("/api/knobs", target=0)
    assert (status, sheet["knobs"]) == (200, [])
    assert "it has no knobs" in sheet["notes"][0]


def test_the_instructions_are_listed_with_their_lines(assembly):
    """Every instruction of the program, in order, with the number of its line in the file."""
    status, listing = assembly.ask("/api/listing", target=0, stage="amdgcn")
    assert status == 200
    text = (assembly.folder / "k.amdgcn").read_text().split("\n")
    numbered = [line for line in listing["lines"] if line[0] is not None]
    assert len(numbered) > 20
    for number, parts, *_ in numbered:
        shown = "".join(text for _, text in parts).partition(" ;")[0].split()
        assert text[number - 1].partition(";")[0].split() == shown
    placed = [place for line in numbered for place in line[2]]
    assert placed
    assert {file for file, _ in placed} <= set(range(len(listing["files"])))


def test_occupancy_is_the_one_of_the_command_line(assembly):
    status, found = assembly.ask("/api/occupancy", arch="MI300X", vgpr=168, agpr=0, lds=32768, num_warps=4, curve="lds")
    assert status == 200
    direct = kprof.occupancy(arch="MI300X", vgpr=168, lds=32768, num_warps=4, curve="lds")
    assert found["kernels"] == json.loads(direct.to_json())["kernels"]
    assert assembly.ask("/api/occupancy", arch="MI300X", vgpr=0, agpr=0, lds=0, num_warps=4, curve="lds")[0] == 422


def test_two_gpus_are_compared(assembly):
    """What ``kprof.diff`` says of the two; two targets are none of it."""
    status, found = assembly.ask(
        "/api/compare", old={"target": 0, "arch": "MI300X"}, new={"target": 0, "arch": "MI308X"}
    )
    assert status == 200
    sides = [kprof.analyze(assembly.folder / "k.amdgcn", arch=gpu) for gpu in ("MI300X", "MI308X")]
    assert found["summary"] == kprof.diff(*sides).summary
    status, refused = assembly.ask("/api/compare", old={"target": 0}, new={"target": 1})
    assert status == 422
    assert "two different targets" in refused["message"]


def test_better_knobs_need_a_kernel_that_says_how_it_is_launched(assembly):
    status, refused = assembly.ask("/api/advise", target=0, constexpr={"BLOCK": 1})
    assert status == 422
    assert "does not support constexpr" in refused["message"]


def test_unknown_stages_are_refused(assembly):
    status, answer = assembly.ask("/api/listing", target=0, stage="spirv")
    assert status == 422
    assert "no stage 'spirv'" in answer["message"]


def test_news_are_streamed(assembly):
    """Results as they finish, and the save of a file that they rest on."""
    connection = http.client.HTTPConnection("127.0.0.1", assembly.port, timeout=120)
    connection.request("GET", "/api/stream", headers={"X-Kprof-Token": assembly.token})
    stream = connection.getresponse()
    assert stream.status == 200
    assert stream.readline() == b": listening\n"
    assembly.ask("/api/report", target=0, arch="MI325X")
    kind, news = _next(stream)
    assert (kind, news["asked"]["arch"]) == ("result", "MI325X")
    assert news["kernels"][0]["vgprs"] > 0
    path = assembly.folder / "k.amdgcn"
    time.sleep(0.3)
    path.write_text(path.read_text() + "; saved\n")
    assert _next(stream) == ("changed", {"target": 0, "saves": 1})
    connection.close()
    _, _, body = assembly.send("GET", "/api/session", headers={"X-Kprof-Token": assembly.token})
    assert any(one["asked"].get("arch") == "MI325X" for one in json.loads(body)["results"])


def _next(stream):
    kind = ""
    while line := stream.readline().decode():
        if line.startswith("event: "):
            kind = line[7:].strip()
        elif line.startswith("data: "):
            return kind, json.loads(line[6:])
    raise AssertionError("the stream ended")


def test_ctrl_c_ends_it_with_its_processes(view, assembly):
    """Also while a page listens."""
    server = view("k.amdgcn", folder=assembly.folder)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("GET", "/api/stream", headers={"X-Kprof-Token": server.token})
    assert connection.getresponse().readline() == b": listening\n"
    server.ask("/api/report", target=0)
    children = _children(server.process.pid)
    assert children
    assert server.end() == 0
    connection.close()
    deadline = time.monotonic() + 60
    while any(_running(child) for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in listed.stdout.split()]


def _running(pid: int) -> bool:
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(listed.stdout.strip()) and not listed.stdout.startswith("Z")


def test_the_page_says_what_the_terminal_says(view, assembly, tmp_path):
    """Loops by their lines, no labels and no names of instructions; the verdict is a sentence about the kernel."""
    shutil.copy(ASSEMBLY.with_name("matmul.triton-3.9.0.amdgcn"), tmp_path / "k.amdgcn")
    _, document = view("k.amdgcn", folder=tmp_path).ask("/api/report", target=0, arch="MI300X")
    (kernel,), (words,) = document["kernels"], document["words"]
    positions = [at for cause in words["causes"] for at in cause["findings"]]
    assert sorted(positions) == list(range(len(kernel["findings"])))
    assert positions
    said = " ".join((words["verdict"], *(cause["message"] for cause in words["causes"])))
    assert not re.search(r"\.LBB|\b(?:v|s|ds|global|buffer)_[a-z]+_", said)
    assert any(".LBB" in finding["message"] for finding in kernel["findings"])
    assert "matmul" in words["verdict"]
