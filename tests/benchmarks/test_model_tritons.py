"""Which Triton compiles which row: its own, where it tells one that can be had, else one that is told beside it."""

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from kprof.compiler.installations import Environment
from kprof.compiler.request import CompileRequest
from validation.benchmarks.model import environments, tritons
from validation.benchmarks.model.compiling import Facts, Point
from validation.benchmarks.model.problem import Candidate, Family, Problem
from validation.benchmarks.model.tritons import Releases

ROOT = Path(__file__).parents[2]
REQUEST = CompileRequest("kernel.py", "copy", "gfx90a", {"x": "*fp16", "n": "constexpr"}, {"n": 16},
                         {"x": {"divisibility": 16}}, {"num_stages": 2, "num_warps": 4})  # fmt: skip


@pytest.fixture
def reachable(monkeypatch):
    """All releases can be had but those that a test names; nothing is fetched."""
    absent = {}
    monkeypatch.setattr(environments, "missing", lambda release: absent.get(release, ""))
    monkeypatch.setattr(tritons, "version", lambda: "3.9.0")
    return absent


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("3.6.0", "3.6.0"),
        ("3.4", "3.4.0"),
        ("~3.5", "3.5.1"),
        ("3.4-3.8 (mixed)", "3.6.0"),
        ("~3.0-3.2 (main_perf 2024)", "3.2.0"),
        ("ROCm6.2-era (~3.0)", "3.0.0"),
        ("3.8", "3.8.0"),
        ("3.7-3.9", "3.7.1"),
        ("3.10", "3.10.0"),
        ("", "3.6.0"),
        ("main", "3.6.0"),
    ],
)
@pytest.mark.usefixtures("reachable")
def test_a_row_is_compiled_by_what_it_names(text, release):
    """Of several the usual one, else the nearest to it; of a minor version its last release."""
    assert Releases().of(text) == release


def test_what_cannot_be_had_is_told(reachable):
    """The usual one stands in, and the page says so; where not even that is there, this Python's own compiles."""
    reachable["3.0.0"] = "no wheel for this Python"
    releases = Releases()
    assert releases.of("~3.0") == "3.6.0"
    assert releases.told() == [
        "Triton 3.0.0 cannot be had (no wheel for this Python): rows measured with it were compiled with 3.6.0."
    ]
    reachable["3.6.0"] = "no network."
    assert releases.of("~3.0") == releases.of("") == ""
    assert releases.told()[1].endswith("(no network): rows measured with it were compiled with 3.9.0.")


def family(problem, triton=""):
    return Family("f", "F", "order", "", lambda _rows, _quick: [problem], triton=triton)


@pytest.mark.usefixtures("reachable")
def test_each_launch_of_a_problem_gets_its_release():
    """What was searched beside a winner is compiled as the winner is; a family may have a usual one of its own."""
    point = Point("k", {}, {}, "MI300X")
    before, after = (Candidate((point, point), {}, 1.0, triton=text) for text in ("3.4", "3.6"))
    pair = Problem("p", (before, after), 1.0, 1.0, "", "MI300X")
    (found,) = Releases().assign(family(pair)).problems([], False)
    assert [[one.triton for one in side.points] for side in found.candidates] == [["3.4.0"] * 2, ["3.6.0"] * 2]

    plain, special = Candidate((point,), {}, 1.0), Candidate((point,), {}, 1.0, release="3.7.1")
    (found,) = Releases().assign(family(replace(pair, candidates=(plain, special)))).problems([], False)
    assert [side.points[0].triton for side in found.candidates] == ["3.6.0", "3.7.1"]

    searched = replace(pair, candidates=(Candidate((point,), {}, winner=True, triton="3.4"), Candidate((point,), {})))
    (found,) = Releases().assign(family(searched)).problems([], False)
    assert [side.points[0].triton for side in found.candidates] == ["3.4.0", "3.4.0"]
    (found,) = Releases(forced="3.7.1").assign(family(searched)).problems([], False)
    assert [side.points[0].triton for side in found.candidates] == ["3.7.1", "3.7.1"]

    untold = replace(pair, candidates=(Candidate((point,), {}, 1.0),))
    (found,) = Releases().assign(family(untold, "3.9.0")).problems([], False)
    # This Python's own needs no environment.
    assert found.candidates[0].points[0].triton == ""


@pytest.mark.usefixtures("reachable")
def test_the_page_says_who_compiled_what():
    """Every measured configuration is counted once, under what its row names."""
    point = Point("k", {}, {}, "MI300X")
    texts = ("3.6", "3.6", "3.4", "", "~3.0")
    candidates = tuple(Candidate((point,), {}, 1.0, triton=text) for text in texts)
    searched = (Candidate((point,), {}),)
    releases = Releases()
    problem = Problem("p", candidates + searched, 1.0, 1.0, "", "MI300X")
    (assigned,) = releases.assign(family(problem)).problems([], False)
    found = releases.matches([assigned])
    assert {one["triton"]: (one["rows"], one["with"], one["match"]) for one in found} == {
        "3.6": (2, "3.6.0", "same"),
        "3.4": (1, "3.4.0", "same"),
        "": (1, "3.6.0", "not told"),
        "~3.0": (1, "3.0.0", "perhaps"),
    }
    section = tritons.section({"a": found}, {"a": "A"}, ["Triton 3.1.0 cannot be had."])
    assert "Of 5 rows 3 were compiled with the release that measured them, 1 with one that" in section[2]
    assert section[2].endswith("Triton 3.1.0 cannot be had.")
    assert "| A | ~3.0 | 1 | 3.0.0 | perhaps |" in section
    assert tritons.section({}, {}) == []


def test_stages_as_older_releases_spell_them():
    """Before 3.2 a pipeline for AMD was asked for with 0; one stage always meant none."""
    assert environments.in_words_of("3.1.0", REQUEST).options == {"num_stages": 0, "num_warps": 4}
    assert environments.in_words_of("3.2.0", REQUEST) == REQUEST
    alone = replace(REQUEST, options={"num_stages": 1})
    assert environments.in_words_of("3.0.0", alone) == alone
    assert environments.in_words_of("3.0.0", replace(REQUEST, options={})).options == {"num_stages": 0}


def test_a_release_without_the_backend_is_not_asked_for():
    assert "no AMD backend" in environments.missing("2.1.0")


CHILD = """
    import json, os, sys
    for line in sys.stdin:
        asked = json.loads(line)
        name = asked["function"]
        if name == "dies":
            sys.stderr.write("LLVM ERROR: cannot select\\n"); sys.stderr.flush(); os._exit(3)
        if name == "hangs":
            import time
            time.sleep(600)
        if name == "refused":
            print(json.dumps({"kind": "failed", "error": "ValueError: no such option"}), flush=True)
            continue
        stages = {"ttgir": "", "amdgcn": f"{name} of {os.getpid()} num_stages {asked['options']['num_stages']}"}
        print(json.dumps({"kind": "compiled", "stages": stages, "metadata": {"shared": 64}}), flush=True)
        print(json.dumps({"kind": "done"}), flush=True)
"""


@pytest.fixture
def older(tmp_path, monkeypatch):
    """A stand-in for the process with an old Triton, with the protocol of the real one."""
    (tmp_path / "older_stand_in.py").write_text(f"def main():\n{textwrap.indent(textwrap.dedent(CHILD), '    ')}")
    monkeypatch.setattr(environments, "_environment", lambda release: Environment(release, tmp_path))
    monkeypatch.setattr(environments, "_OLDER", "older_stand_in")
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    kernel = tmp_path / "kernel.py"
    kernel.write_text("# kernel\n")
    return lambda *names: [replace(REQUEST, path=str(kernel), function=name) for name in names]


def test_one_bad_compile_ends_no_other(older):
    """A refusal, a death and a hang are outcomes of their requests; the next request has a process again."""
    asked = older("first", "refused", "dies", "second", "hangs", "third")
    found = list(environments.compile_with("3.0.0", asked, 1, 5.0))
    assert [one.index for one in found] == list(range(6))
    assert [one.status for one in found] == ["ok", "failed", "failed", "ok", "timeout", "ok"]
    assert found[1].error == "ValueError: no such option"
    assert "ended" in found[2].error
    assert found[4].error == "took longer than 5 s"
    assert found[0].compiled.amdgcn.endswith("num_stages 0")
    assert (found[0].compiled.triton_version, found[0].compiled.lds_bytes) == ("3.0.0", 64)


def test_what_was_made_is_not_made_again(older):
    """From the cache, until the kernel's file changes."""
    (request,) = older("first")
    once, again = (next(iter(environments.compile_with("3.0.0", [request], 1, 60.0))).compiled for _ in range(2))
    assert (once.cached, again.cached) == (False, True)
    assert once.amdgcn == again.amdgcn
    Path(request.path).write_text("# another kernel\n")
    (changed,) = environments.compile_with("3.0.0", [request], 1, 60.0)
    assert not changed.compiled.cached


def test_a_newer_release_compiles_in_kprofs_own_workers():
    """The process for 3.4 and later, asked by hand: this Python's Triton stands in for another."""
    requests = [request_of(name) for name in ("add_kernel", "no_such_kernel")]
    question = {"requests": [one.to_json() for one in requests], "jobs": 1, "timeout": 300}
    done = subprocess.run(
        [sys.executable, "-c", "from validation.benchmarks.model.elsewhere import main; main()"],
        input=json.dumps(question) + "\n", capture_output=True, text=True, check=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    *answers, last = map(json.loads, done.stdout.splitlines())
    assert last == {"kind": "done"}
    first, second = sorted(answers, key=lambda one: one["index"])
    assert "s_endpgm" in first["stages"]["amdgcn"]
    assert (second["status"], "no_such_kernel" in second["error"]) == ("failed", True)


def request_of(name):
    return CompileRequest(
        str(ROOT / "tests" / "benchmarks" / "add_kernel.py"), name, "gfx942",
        {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 256}, {}, {},
    )  # fmt: skip


def test_releases_are_told_apart_in_the_facts(monkeypatch):
    """The same launch with two releases is two compiles, and each knows its own outcome."""
    asked = []

    def refused(release, requests, jobs, timeout):
        from kprof.compiler.request import CompileOutcome

        asked.append(release)
        for index, request in enumerate(requests):
            yield CompileOutcome(request, index, status="failed", error=f"no {release}")

    monkeypatch.setattr(environments, "compile_with", refused)
    facts = Facts()
    shape = {"M": 256, "N": 256, "K": 256, "batch": 1, "bias": False}
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 4, "num_stages": 2}
    points = [Point("inductor_mm", shape, config, "MI210", triton=one) for one in ("3.0.0", "3.4.0", "3.0.0")]
    assert facts.prepare(points) == [None] * 3
    assert asked == ["3.0.0", "3.4.0"]
    assert sorted(reason.rpartition(": ")[2] for reason in facts.failures.values()) == ["no 3.0.0", "no 3.4.0"]
    assert [one.error.rpartition(": ")[2] for one in facts.build(points)] == ["no 3.0.0", "no 3.4.0", "no 3.0.0"]
