"""Sessions: what they answer is what the API answers; what goes wrong in one question is nobody else's."""

import json
import os
import sys
import threading
import time
from concurrent.futures import CancelledError, as_completed
from pathlib import Path

import pytest

import kprof
from kprof import children
from kprof.api.live import session as sessions
from kprof.api.live import worker
from kprof.errors import HardwareError, KprofError, TargetError

ASSEMBLY = Path(__file__).parents[2] / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn"


def test_an_answer_is_the_one_of_the_api(session):
    """Occupancy from numbers needs no Triton."""
    asked = {"arch": "gfx942", "vgpr": 168, "lds": 32768, "num_warps": 4}
    direct = kprof.occupancy(**asked)
    answer = session.ask("occupancy", **asked)
    assert answer["summary"] == direct.summary
    assert answer["kernels"] == json.loads(direct.to_json())["kernels"]


def test_errors_keep_their_kind(session):
    """A caller tells them apart as those of the API."""
    with pytest.raises(HardwareError, match="gfx942x"):
        session.ask("occupancy", arch="gfx942x", vgpr=1)
    with pytest.raises(TargetError, match="no kernel 'flash_atention'"):
        session.ask("analyze", target="flash_atention")
    with pytest.raises(KprofError, match="no question 'analyse'; did you mean 'analyze'"):
        session.submit("analyse")
    with pytest.raises(KprofError, match="an argument of analyze is not a JSON value"):
        session.submit("analyze", target=Path("x"))


@pytest.mark.parametrize("name", ["k" * 5000, "./" + "k/" * 5000, "", "\0"])
def test_hostile_names_do_not_end_it(session, name):
    """A worker that died of one would say nothing about the name, and take what it keeps with it."""
    with pytest.raises(TargetError):
        session.ask("analyze", target=name)


def test_unknown_arguments_do_not_end_it(session):
    """A mistake of the caller is told, and the next question is answered."""
    with pytest.raises(KprofError, match="unexpected keyword argument 'zzz'"):
        session.ask("occupancy", arch="gfx942", zzz=1)
    assert session.ask("explain_rule", rule="KP301")["name"] == "spill-in-loop"


def test_a_repeated_question_is_answered_at_once_until_its_file_changes(session, tmp_path):
    """Within 50 ms; the answer to a changed file is that of the changed file."""
    path = tmp_path / "k.s"
    path.write_text(ASSEMBLY.read_text())
    first = session.ask("analyze", target=str(path))
    assert [one["name"] for one in first["kernels"]] == ["matmul"]
    # Processor time: what else runs on the machine is none of it.
    began = time.thread_time()
    assert session.ask("analyze", target=str(path)) == first
    assert time.thread_time() - began < 0.05
    path.write_text(ASSEMBLY.read_text().replace("matmul", "second"))
    os.utime(path, ns=(1, 1))
    assert [one["name"] for one in session.ask("analyze", target=str(path))["kernels"]] == ["second"]


def test_an_answer_belongs_to_the_caller(session):
    """Changing it changes nobody else's."""
    first = session.ask("explain_rule", rule="KP101")
    first["text"] = "changed"
    assert session.ask("explain_rule", rule="KP101")["text"] != "changed"


def test_a_relative_path_is_of_where_it_was_asked(session, tmp_path, monkeypatch):
    """Also after the caller has gone elsewhere, where another file has the name."""
    for name in ("matmul", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "k.s").write_text(ASSEMBLY.read_text().replace("matmul", name))
        monkeypatch.chdir(tmp_path / name)
        assert [one["name"] for one in session.ask("analyze", target="k.s")["kernels"]] == [name]


def test_without_a_process_the_question_is_told_so(monkeypatch):
    """And the session goes on."""
    failing = [True]
    popen = children.popen

    def once(command, **options):
        if failing.pop() if failing else False:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return popen(command, **options)

    monkeypatch.setattr(children, "popen", once)
    with sessions.Session(jobs=1) as session:
        with pytest.raises(KprofError, match="no process for explain_rule: Resource temporarily unavailable"):
            session.ask("explain_rule", rule="KP301")
        assert session.ask("explain_rule", rule="KP301")["rule"] == "KP301"


@pytest.mark.parametrize(
    ("question", "target", "kept"),
    [("analyze", "folder", True), ("advise", "folder", False), ("advise", "k.s", True), ("capture", None, False)],
)
def test_what_a_program_decides_is_not_remembered(tmp_path, monkeypatch, question, target, kept):
    """Recording runs the program each time; so does advice on what was recorded."""
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    asked = {"question": question, "arguments": {} if target is None else {"target": target}}
    assert worker._rests_on_files(asked) is kept


def slow(session, seconds=60.0):
    """A question that nobody answers in time: its process only sleeps."""
    return session.submit("explain_rule", rule="KP301", seconds=seconds)


@pytest.fixture
def sleeping(monkeypatch):
    """Sessions whose processes answer nothing; it gives their process ids."""
    started = []
    popen = children.popen

    def sleeper(command, **options):
        process = popen([sys.executable, "-c", "import time; time.sleep(600)"], **options)
        started.append(process)
        return process

    monkeypatch.setattr(children, "popen", sleeper)
    return started


def test_a_question_that_takes_too_long_is_given_up(sleeping):
    """With its process; the message says how long it had."""
    with sessions.Session(jobs=1) as session, pytest.raises(KprofError, match=r"explain_rule took longer than 0\.3 s"):
        slow(session, 0.3).result()
    assert sleeping[0].poll() is not None


def test_cancelling_ends_the_process(sleeping):
    """At once, also while it is worked on."""
    with sessions.Session(jobs=1) as session:
        running, waiting = slow(session), slow(session)
        while not sleeping:
            time.sleep(0.01)
        assert waiting.cancel()
        assert running.cancel()
        with pytest.raises(CancelledError):
            running.result(timeout=60)
        assert waiting.cancelled()
        assert not running.cancel()
    assert sleeping[0].poll() is not None


def test_closing_ends_everything(sleeping):
    """What had no answer is cancelled, and no process or thread is left."""
    before = threading.active_count()
    session = sessions.Session(jobs=2)
    asked = [slow(session) for _ in range(4)]
    while len(sleeping) < 2:
        time.sleep(0.01)
    session.close()
    for one in asked:
        with pytest.raises(CancelledError):
            one.result(timeout=60)
    assert all(process.poll() is not None for process in sleeping)
    assert threading.active_count() == before
    with pytest.raises(KprofError, match="the session is closed"):
        session.submit("kernels")


def test_a_process_that_dies_is_replaced(session):
    """The question that it had is told so, the next one is answered."""
    asked = session.submit("advise", target="gemm", budget=60)
    while asked._stop is None:
        time.sleep(0.01)
    asked._stop.kill()
    with pytest.raises(KprofError, match="the process that answered advise died"):
        asked.result(timeout=60)
    assert session.ask("explain_rule", rule="KP204")["name"] == "full-drain"


@pytest.mark.triton
def test_helpers_that_change_are_read_again(session, tmp_path):
    """A file beside the kernel decides a constant; the process that has imported it is replaced."""
    (tmp_path / "kprof_test_helper.py").write_text("WIDTH = 64\n")
    (tmp_path / "k.py").write_text(
        "import sys\nsys.path.insert(0, __file__.rpartition('/')[0])\n"
        "import triton\nimport triton.language as tl\nfrom kprof_test_helper import WIDTH\nW = tl.constexpr(WIDTH)\n"
        "@triton.jit\ndef fill(out):\n    tl.store(out + tl.arange(0, W), 1.0)\n"
    )
    question = {"target": f"{tmp_path}/k.py::fill", "signature": "*fp32", "arch": "gfx942"}
    before = session.ask("analyze", **question)
    (tmp_path / "kprof_test_helper.py").write_text("WIDTH = 8192\n")
    after = session.ask("analyze", **question)
    assert before["kernels"][0]["vgprs"] < after["kernels"][0]["vgprs"]


@pytest.mark.triton
@pytest.mark.parametrize("question", ["analyze", "report"])
def test_a_helper_beside_a_kernel_counts_whether_or_not_it_was_imported(question, tmp_path):
    """A process that recalls the compile from the cache imports neither file; the answer rests on both all the same."""
    helper, kernel = tmp_path / "helper.py", tmp_path / "k.py"
    start = "import triton\nimport triton.language as tl\n"
    text = start + "@triton.jit\ndef each(x):\n    return x * 2.0\n"
    helper.write_text(text)
    body = "@triton.jit\ndef fn(x, y):\n    at = tl.arange(0, 4096)\n    tl.store(y + at, each(tl.load(x + at)))\n"
    kernel.write_text(f"{start}from helper import each\n{body}")
    asked = {"target": f"{kernel}::fn", "signature": "*fp32,*fp32", "arch": "gfx942"}

    def vgprs(answer):
        (entry,) = answer["kernels"]
        return entry.get("vgprs") or entry["resources"]["vgpr"]

    for round_ in ("cold", "recalled"):
        helper.write_text(text)
        with sessions.Session(jobs=1) as session:
            first = session.submit(question, **asked)
            before = vgprs(first.result())
            assert {str(helper), str(kernel)} <= first.files.keys(), round_
            helper.write_text(text.replace("x * 2.0", "tl.exp(x) / tl.sin(x * 3.0)"))
            assert vgprs(session.ask(question, **asked)) > before, round_
            assert session.submit(question, **asked).done()


@pytest.mark.triton
def test_many_configurations_come_as_they_are_finished():
    """All are answered, each as by itself."""
    with sessions.Session(jobs=2) as session:
        asked = {
            session.submit("analyze", target="softmax", arch="MI300X", config={"num_warps": warps}): warps
            for warps in (1, 2, 4, 8)
        }
        found = {asked[one]: one.result()["kernels"][0] for one in as_completed(asked)}
    for warps in (1, 8):
        (direct,) = kprof.analyze("softmax", arch="MI300X", config={"num_warps": warps}).kernels
        assert found[warps]["vgprs"] == direct.resources.vgpr
        assert found[warps]["time"]["us"] == pytest.approx(direct.model.time_us, abs=1e-3)
