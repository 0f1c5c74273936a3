"""kprof advise with --counters and --trace."""

import importlib.util
import json
from pathlib import Path

import pytest

from kprof.compiler.versions import installed

pytestmark = pytest.mark.triton
TESTS = Path(__file__).parents[1]
KNOBS = ("--config", "num_warps=4,waves_per_eu=2")


def _load(path: Path):
    spec = importlib.util.spec_from_file_location(f"advise_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


making = _load(TESTS / "analyzers" / "profiles" / "measured" / "making.py")
kineto = _load(TESTS / "artifacts" / "kineto" / "builder.py")


@pytest.fixture
def counters(tmp_path):
    """A folder with two runs of the attention kernel on an MI300X."""
    folder = tmp_path / "counters"
    folder.mkdir()
    making.agents(folder)
    making.collection(folder, making.counted(), runs=2)
    return folder


@pytest.fixture
def trace(tmp_path):
    """A trace with the attention kernel beside a GEMM."""
    builder = kineto.Builder()
    launch = {"grid": [4096, 1, 1], "block": [256, 1, 1], "shared memory": 32768}
    builder.run("flash_attention_kernel", 1000, 30, api="hipModuleLaunchKernel", **launch)
    builder.run("Cijk_gemm", 1100, 70, api="hipExtModuleLaunchKernel", grid=[64, 1, 1], block=[256, 1, 1])
    return builder.write(tmp_path / "t.json")


def test_judged_without_a_search(kprof, counters, trace):
    """Which kernel, each finding's standing, facts of both sources; the verdict is the last line."""
    ran = kprof("advise", "flash_attention", *KNOBS, "--counters", counters, "--trace", trace, "--no-search")
    assert ran.code == 0, ran.err
    for words in ("measured on MI300X", "counters: 2 runs", "trace: 1 run", "share of the GPU's kernel"):
        assert words in ran.out
    last = ran.out.strip().splitlines()[-1]
    assert last.startswith("measured: ")
    # The registers that were measured are those of the code of 3.9: another release's may be likely to be it, no more.
    sure = "the match is not certain" not in last
    assert ("confirmed" in last) is ("waited 40 %" in ran.out) is sure
    assert sure or installed().numbers < (3, 9)


def test_json_has_both_sides(kprof, counters):
    """Findings in the static order, judgements pointing at them; nothing else on standard output."""
    ran = kprof("advise", "flash_attention", *KNOBS, "--counters", counters, "--no-search", "--json", "-")
    document = json.loads(ran.out)
    assert document["schema"] == "kprof.advice/1"
    assert document["arch"] == "gfx942"
    measured = document["measured"]
    assert measured["matches"][0]["kernel"] == "flash_attention_kernel"
    for judgement in measured["judgements"]:
        assert document["findings"][judgement["finding"]]["rule"] == judgement["rule"]
    ranks = [("confirmed", "not measured", "refuted").index(j["standing"]) for j in measured["judgements"]]
    assert ranks == sorted(ranks)


def test_search_comes_after(kprof, counters):
    """By default both are done: the document has trials and judgements. The budget ends the search at once."""
    ran = kprof("advise", "flash_attention", *KNOBS, "--counters", counters, "--budget", "1", "-j", "1", "--json", "-")
    document = json.loads(ran.out)
    assert document["measured"]["judgements"]
    assert document["start"]["measure"]["waves"] > 0


def test_measured_gpu_goes_before_the_default(kprof, tmp_path):
    """Without --arch the kernel is compiled for what was measured, and that is said."""
    making.agents(tmp_path, product="MI355X", arch="gfx950")
    making.collection(tmp_path, making.counted())
    ran = kprof("advise", "flash_attention", "--counters", tmp_path, "--no-search", "--json", "-")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["arch"] == "gfx950"
    assert "compiled for MI355X, the measured GPU" in ran.err


@pytest.mark.parametrize("asked", ["gfx950", "MI325X", "gfx90a"])
def test_another_gpu_than_asked_for(kprof, counters, asked):
    """What was measured on one GPU says nothing of another: exit code 2, both named."""
    ran = kprof("advise", "flash_attention", "--arch", asked, "--counters", counters, "--no-search")
    assert ran.code == 2
    assert "measured on MI300X (gfx942)" in ran.err
    assert asked in ran.err


def test_kernel_that_was_not_measured(kprof, counters, trace):
    """Exit code 2, with what is called nearly the same where there is such a thing."""
    ran = kprof("advise", "softmax", "--counters", counters, "--no-search")
    assert ran.code == 2
    assert "no kernel softmax_kernel in the counters" in ran.err
    assert kprof("advise", "softmax", "--trace", trace, "--no-search").code == 2


def test_other_num_warps(kprof, counters):
    """A measurement of four wavefronts and a program for eight: exit code 2, with the knob to set."""
    knobs = ("--config", "num_warps=8")
    ran = kprof("advise", "flash_attention", *knobs, "--counters", counters, "--no-search")
    assert ran.code == 2
    assert "--config num_warps=4" in ran.err


def test_gpu_that_nothing_tells(kprof, tmp_path):
    """Counters without agents: the user has to name the GPU, and then they are judged."""
    making.collection(tmp_path, making.counted())
    ran = kprof("advise", "flash_attention", *KNOBS, "--counters", tmp_path, "--no-search")
    assert ran.code == 2
    assert "do not say which GPU" in ran.err
    assert kprof("advise", "flash_attention", *KNOBS, "-a", "MI300X", "--counters", tmp_path, "--no-search").code == 0


@pytest.mark.parametrize("content", [b"", b"not a table", b"\x1f\x8b\x00garbage", b'{"traceEvents": ['])
@pytest.mark.parametrize("option", ["--counters", "--trace"])
def test_bad_files(kprof, tmp_path, option, content):
    """Files that are no measurement: one message, exit code 2, never a traceback."""
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    ran = kprof("advise", "flash_attention", option, path, "--no-search")
    assert ran.code == 2
    assert ran.err.startswith("kprof: ")
    assert "Traceback" not in ran.err


def test_missing_file_and_nothing_to_do(kprof, tmp_path):
    """A path that is not there; --no-search with nothing to judge by."""
    assert kprof("advise", "flash_attention", "--trace", tmp_path / "none.json").code == 2
    ran = kprof("advise", "flash_attention", "--no-search")
    assert ran.code == 2
    assert "nothing to do" in ran.err


def test_nvidia_trace(kprof, tmp_path):
    """A trace of another vendor's GPU is refused by name."""
    builder = kineto.Builder()
    builder.run("flash_attention_kernel", 1000, 30, api="cuLaunchKernel", grid=[1, 1, 1], block=[128, 1, 1])
    document = builder.document()
    document["deviceProperties"] = [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "warpSize": 32}]
    document.pop("roctracer_version", None)
    document.pop("hip_runtime_version", None)
    document["cuda_runtime_version"] = 12040
    path = tmp_path / "t.json"
    path.write_text(json.dumps(document))
    ran = kprof("advise", "flash_attention", "--trace", path, "--no-search")
    assert ran.code == 2
    assert "NVIDIA" in ran.err
