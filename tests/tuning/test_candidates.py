"""Rankings: one row a program, ties, and what a configuration with several launches costs."""

from dataclasses import replace
from math import inf
from typing import Any

import pytest

from kprof.tuning.candidates import TIE, Candidate, failure_reason, is_tie, merged, tied
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.problems import Problem
from kprof.tuning.work import TaskResult
from kprof_analyzers.model.certainty import least_difference


def scored(time: float, code: str = "", spread: float = 1.5, **config: int) -> Evaluation:
    """A configuration with a prediction."""
    return Evaluation(
        config or {"code": code}, time_us=time, low_us=time / spread, high_us=time * spread, bound="matrix",
        codes=(code or str(time),),
    )  # fmt: skip


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

    assert isinstance(result, Evaluation)
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
        (TaskResult("", "killed", reason="crashed: signal 9 (SIGKILL)"), "killed, possibly because memory ran out"),
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


def answer(key: str, **known: Any) -> TaskResult:
    """A launch that was judged."""
    return TaskResult(key, "ok", **{"isa": key.upper(), "bound": "memory"} | known)


def candidate(*names: str) -> Candidate:
    """A configuration with these launches."""
    return Candidate(0, Problem("p", {}), {"x": 1}, names, tuple("abc"[: len(names)]))


def test_bounds_that_are_not_known_are_the_time_itself() -> None:
    """Of the launch that has none; of equal times the kernel's own is the longest."""
    answers = {
        "a": answer("a", time_us=2.0, resources={"vgpr": 8}),
        "b": answer("b", time_us=2.0, low_us=1.0, high_us=3.0),
    }
    result = candidate("gemm", "reduce").score(answers)
    assert isinstance(result, Evaluation)
    assert (result.time_us, result.low_us, result.high_us) == (4.0, 3.0, 5.0)
    assert (result.bound, result.resources, result.cost) == ("memory", {"vgpr": 8}, 4.0)
    assert not result.given


def test_an_unknown_extent_is_counted_by_its_elements() -> None:
    """Launches with a time do not depend on it, and are left out with a word."""
    answers = {
        "a": answer("a", cycles_per_element=3.0, axis="K", bound="lds", assumptions=["one"], resources={"vgpr": 8}),
        "b": answer("b", cycles_per_element=5.0, axis="K", bound="matrix", assumptions=["one"]),
        "c": answer("c", time_us=9.0, assumptions=["two"]),
    }
    result = candidate("gemm", "half", "reduce").score(answers)
    assert isinstance(result, Evaluation)
    assert (result.time_us, result.low_us, result.high_us) == (None, None, None)
    assert (result.cycles_per_element, result.cost, result.axis) == (8.0, 8.0, "K")
    assert (result.bound, result.resources, result.codes) == ("matrix", {"vgpr": 8}, ("A", "B", "C"))
    assert result.assumptions == ("one", "two", "launches that do not depend on K are left out")
    alone = candidate("gemm", "half").score(answers)
    assert isinstance(alone, Evaluation)
    assert alone.assumptions == ("one",)


def test_two_unknown_extents_cannot_be_compared() -> None:
    """Cycles for an element of one are not those of the other."""
    answers = {"a": answer("a", cycles_per_element=3.0, axis="N"), "b": answer("b", cycles_per_element=5.0, axis="K")}
    result = candidate("gemm", "half").score(answers)
    assert isinstance(result, TaskResult)
    assert (result.key, result.status, result.reason) == ("a", "failed", "more than one size is unknown: K, N")


def test_an_unknown_cost_ranks_last() -> None:
    """Where neither a time nor cycles are known."""
    assert replace(scored(1.0), time_us=None).rank == inf


@pytest.mark.parametrize(
    ("best", "other", "tie"),
    [
        ({"measured_ms": 1.0}, {"measured_ms": 1.0 + TIE}, True),
        ({"measured_ms": 1.0}, {"measured_ms": 1.05}, False),
        ({"given": True}, {"given": True, "time_us": 100.0 * (1 + TIE)}, True),
        ({"given": True}, {"given": True, "time_us": 105.0}, False),
        ({"given": True}, {"time_us": 105.0}, True),
        ({}, {"given": True, "time_us": 105.0}, True),
        # One measured in 5 ms beside one that was not: the predictions decide.
        ({"measured_ms": 5.0}, {"time_us": 105.0}, True),
        ({}, {"measured_ms": 5.0, "time_us": 105.0}, True),
        # The model guessed the best one: more than 16 times between its bounds, and not just 16.
        ({"low_us": 10.0, "high_us": 160.0}, {"time_us": 200.0, "low_us": 50.0}, False),
        ({"low_us": 10.0, "high_us": 161.0}, {"time_us": 200.0, "low_us": 50.0}, True),
        ({"low_us": 10.0, "high_us": 161.0}, {"time_us": 200.0, "low_us": 100.0}, True),
        ({"low_us": 10.0, "high_us": 161.0}, {"time_us": 200.0, "low_us": 101.0}, False),
        ({"low_us": 10.0, "high_us": 161.0}, {"time_us": 105.0, "low_us": None}, True),
        ({"low_us": 0.0, "high_us": 1.0}, {"time_us": 200.0, "low_us": 50.0}, True),
        ({"low_us": None, "high_us": 161.0}, {"time_us": 200.0, "low_us": 50.0}, False),
    ],
)
def test_what_decides_a_tie(best: dict[str, Any], other: dict[str, Any], tie: bool) -> None:
    """Measured times within 3 %, then times that the user gave, then bounds where they are wide, then predictions."""
    plain = Evaluation({}, time_us=100.0, low_us=90.0, high_us=110.0, bound="matrix")
    assert is_tie(replace(plain, **best), replace(plain, **other)) is tie


def test_a_difference_of_just_the_least_is_told_apart() -> None:
    """As of proposals, by the model's certainty."""
    edge = 1 + least_difference()
    assert not is_tie(scored(1.0), scored(edge))
    assert is_tie(scored(1.0), scored(edge - 1e-9))


def test_a_reason_is_cut_to_a_line() -> None:
    """Of 90 characters."""
    assert failure_reason(TaskResult("", "failed", reason="x" * 200)) == "x" * 90
    assert failure_reason(TaskResult("", "failed")) == "failed"
    assert failure_reason(TaskResult("", "unlaunchable")) == "workgroup too large"
