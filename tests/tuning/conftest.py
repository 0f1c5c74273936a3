"""A judge and an executor that need no compiler and no model."""

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def stub_judge(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A :class:`Judge` that workers can import."""
    from kprof.tuning.work import Judge

    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return Judge("kprof_stub_judge:judge", "1")


Rule = Callable[[Mapping[str, Any]], Any]


class FakeExecutor:
    """Answers at once, by a rule from a configuration to a time, a status or an exception.

    Args:
        rule: what it answers.
        workers: tasks that it takes before it answers one of them, any one.
        seed: which one.
    """

    description = "nobody"

    def __init__(self, rule: Rule, workers: int = 1, seed: int = 0) -> None:
        self.rule, self.workers, self.random = rule, workers, random.Random(seed)
        self.done: list[str] = []

    def run(self, tasks: Iterator[Any]) -> Iterator[Any]:
        """See :class:`kprof.tuning.work.Executor`."""
        running: list[Any] = []
        tasks = iter(tasks)
        more = True
        while more or running:
            while more and len(running) < self.workers:
                task = next(tasks, self)
                more = task is not self
                if task is None:
                    assert running, "waits for nothing"
                    break
                if more:
                    running.append(task)
            if running:
                yield self._answer(running.pop(self.random.randrange(len(running))))

    def _answer(self, task: Any) -> Any:
        from kprof.tuning.work import TaskResult

        self.done.append(task.key)
        result = self.rule({**task.config, "launch": task.launch["name"]})
        if isinstance(result, BaseException):
            raise result
        if isinstance(result, TaskResult):
            import msgspec

            return msgspec.structs.replace(result, key=task.key)
        return TaskResult(
            task.key, "ok", isa=task.key, time_us=float(result), low_us=0.8 * result, high_us=1.2 * result,
            bound="matrix", resources={"lds_bytes": 1024}, seconds=0.1,
        )  # fmt: skip


@pytest.fixture
def fake() -> Callable[..., FakeExecutor]:
    """An executor that answers by a rule."""
    return FakeExecutor
