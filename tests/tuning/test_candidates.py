"""Rankings: one row a program, ties, and what a configuration with several launches costs."""

import pytest

from kprof.tuning.candidates import Candidate, Scored, failure_reason, is_tie, merged, tied
from kprof.tuning.problems import Problem
from kprof.tuning.work import TaskResult
from kprof_analyzers.model.certainty import least_difference


def scored(time: float, code: str = "", spread: float = 1.5, **config: int) -> Scored:
    """A configuration with a prediction."""
    return Scored(config or {"code": code}, time, time / spread, time * spread, "matrix", {}, (code or str(time),))


def test_one_row_a_program() -> None:
    """The first configuration that led to a program stands for it; the same code with another time is another row."""
    rows = merged([scored(3.0, "a", x=1), scored(1.0, "b", x=2), scored(3.0, "a", x=3), scored(2.0, "a", x=4)])

    assert [(row.time_us, row.config["x"], [c["x"] for c in row.alike]) for row in rows] == [
        (1.0, 2, []), (2.0, 4, []), (3.0, 1, [3]),
    ]  # fmt: skip


def test_ties() -> None:
    """Near times are not told apart; where the model had to guess, the bounds decide."""
    least = least_difference()
    close, far = scored(1 + least / 2), scored(1 + 2 * least)

    assert tied([scored(1.0), close, far]) == 2
    assert tied([]) == 0
    assert not is_tie(scored(1.0), far)
    assert is_tie(scored(1.0, spread=5.0), scored(4.0, spread=5.0))
    assert not is_tie(scored(1.0, spread=5.0), scored(6.0, spread=5.0))


def test_launches_add_up() -> None:
    """A split product pays for its reduction, and is bound by what takes longest."""
    candidate = Candidate(0, Problem("p", {}), {"x": 1}, ("gemm", "gemm::reduce"), ("a", "b"))
    answers = {
        "a": TaskResult("a", "ok", isa="A", time_us=2.0, low_us=1.0, high_us=4.0, bound="matrix", assumptions=["one"]),
        "b": TaskResult("b", "ok", isa="B", time_us=3.0, low_us=2.0, high_us=5.0, bound="memory", assumptions=["one"]),
    }

    result = candidate.score(answers)

    assert isinstance(result, Scored)
    assert (result.time_us, result.low_us, result.high_us) == (5.0, 3.0, 9.0)
    assert result.bound == "memory (gemm::reduce)"
    assert result.parts == {"gemm::reduce": 3.0}
    assert result.codes == ("A", "B")
    assert result.assumptions == ("one",)
    bad = TaskResult("b", "failed", reason="no")
    assert candidate.score({**answers, "b": bad}) is bad


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (TaskResult("", "unlaunchable", reason="needs 70,000 bytes of LDS, a workgroup can have 65,536"), "out of LDS"),
        (TaskResult("", "unlaunchable", reason="needs 2,048 threads in a workgroup"), "workgroup too large"),
        (
            TaskResult("", "crashed", reason="crashed: signal 6 (SIGABRT) while making llir"),
            "crashed: signal 6 (SIGABRT)",
        ),
        (TaskResult("", "killed", reason="crashed: signal 9 (SIGKILL)"), "killed: out of memory?"),
        (TaskResult("", "timeout", reason="took longer than 120 s while making llir"), "compile took too long"),
        (TaskResult("", "failed", reason="does not compile: 64 is not 32\nmore"), "does not compile: … is not …"),
    ],
)
def test_reasons(answer: TaskResult, words: str) -> None:
    """Like ones are counted under the same words."""
    assert failure_reason(answer) == words


def test_what_a_worker_said() -> None:
    """A signal 9 says nothing about the configuration; an answer of another form is a failed judgement."""
    from kprof.compiler.request import CompileOutcome, CompileRequest
    from kprof.tuning.work import RETRIED, TuningTask, answer_of

    task = TuningTask("k", CompileRequest("a.py", "f", "gfx942", {}), {})
    crash = CompileOutcome(task.request, status="crashed", error="crashed: signal 6 (SIGABRT)", seconds=2.0)
    killed = CompileOutcome(task.request, status="crashed", error="crashed: signal 9 (SIGKILL) while making llir")

    assert answer_of(task, crash) == TaskResult("k", "crashed", reason="crashed: signal 6 (SIGABRT)", seconds=2.0)
    assert answer_of(task, killed).status in RETRIED
    odd = answer_of(task, CompileOutcome(task.request, answer={"time_us": "soon"}))
    assert odd.status == "failed"
    assert odd.reason is not None
    assert odd.reason.startswith("could not be judged: ")
    good = answer_of(task, CompileOutcome(task.request, answer={"time_us": 2.0, "isa": "x", "bound": "matrix"}))
    assert (good.status, good.time_us, good.key) == ("ok", 2.0, "k")
