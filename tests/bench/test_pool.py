"""The process that measures: its death is one result, and the rest goes on."""

from pathlib import Path

import pytest

from kprof import children
from kprof.bench.document import BenchTask
from kprof.bench.pool import Runner
from kprof.errors import KprofError

WORKER = """
import json, os, signal, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if request["kind"] == "describe":
        reply = {"failure": {"message": "no GPU here", "hint": "look elsewhere", "hardware": True}}
    else:
        task = request["task"]
        what = task["case"]
        if what == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "aborts":
            print("HSA_STATUS_ERROR: memory fault", file=sys.stderr, flush=True)
            os.abort()
        if what == "hangs":
            time.sleep(60)
        if what == "fault":
            reply = {"device_failure": "AcceleratorError: illegal memory access"}
        else:
            found = {"kernel": str(os.getpid()), "case": what, "shape": {}, "provider": "triton", "status": "ok"}
            reply = {"measurement": found}
    print(json.dumps(reply), flush=True)
"""


@pytest.fixture
def fake_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that does what the case's name says, without torch."""
    monkeypatch.setattr(children, "START", WORKER)


def task(case: str) -> BenchTask:
    """A task with this case."""
    return BenchTask("kernels/toy.py", case, {}, "triton")


@pytest.mark.usefixtures("fake_worker")
@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("dies", "SIGKILL"),
        ("aborts", "its last output: HSA_STATUS_ERROR: memory fault"),
        ("fault", "the GPU failed: AcceleratorError: illegal memory access"),
    ],
)
def test_a_crash_is_one_result(case: str, message: str) -> None:
    """The task before and the one after are measured, in different processes."""
    with Runner() as runner:
        before, lost, after = (runner.measure(task(name)) for name in ("first", case, "last"))

    assert [m.status for m in (before, lost, after)] == ["ok", "crashed", "ok"]
    assert message in lost.message
    assert (lost.kernel, lost.case) == ("toy", case)
    assert before.kernel != after.kernel, "the failed process was used again"


@pytest.mark.usefixtures("fake_worker")
def test_tasks_share_a_process_while_it_lives() -> None:
    """Importing torch takes seconds: it is done once."""
    with Runner() as runner:
        assert runner.measure(task("a")).kernel == runner.measure(task("b")).kernel


@pytest.mark.usefixtures("fake_worker")
def test_a_hanging_kernel_is_ended() -> None:
    """After the time that it may take."""
    with Runner(timeout=4) as runner:
        late, after = runner.measure(task("hangs")), runner.measure(task("next"))

    assert (late.status, after.status) == ("timeout", "ok")
    assert "4 s" in late.message


@pytest.mark.usefixtures("fake_worker")
def test_no_gpu_is_an_error_with_its_hint() -> None:
    """As the worker words it."""
    with Runner() as runner, pytest.raises(KprofError, match="no GPU here") as caught:
        runner.describe({}, measure=False)

    assert caught.value.hint == "look elsewhere"


def test_a_worker_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The last line that it printed is in the message."""
    monkeypatch.setattr(children, "START", "raise SystemExit('libamdhip64.so: cannot open')")
    monkeypatch.chdir(tmp_path)
    with Runner() as runner, pytest.raises(KprofError, match=r"libamdhip64\.so: cannot open"):
        runner.describe({}, measure=False)


def test_real_worker_answers_on_this_machine() -> None:
    """With a GPU its description and the limit that was given; without one an error that says so."""
    torch = pytest.importorskip("torch", reason="the worker imports torch")
    with Runner() as runner:
        if torch.cuda.is_available():
            assert runner.describe({"gbs": 1234}, measure=False).limits.memory_gbs == 1234
        else:
            with pytest.raises(KprofError, match="no GPU that torch"):
                runner.describe({"gbs": 1234}, measure=False)
