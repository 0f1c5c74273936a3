"""A judge and an executor that need no compiler and no model."""

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
    """Answers at once, by a rule from a configuration to a time, a status or an exception."""

    description = "nobody"

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.done: list[str] = []

    def run(self, tasks: Iterator[Any]) -> Iterator[Any]:
        """See :class:`kprof.tuning.work.Executor`."""
        from kprof.tuning.work import TaskResult

        for task in tasks:
            self.done.append(task.key)
            result = self.rule({**task.config, "launch": task.launch["name"]})
            if isinstance(result, BaseException):
                raise result
            if isinstance(result, TaskResult):
                import msgspec

                yield msgspec.structs.replace(result, key=task.key)
            else:
                yield TaskResult(
                    task.key, "ok", isa=task.key, time_us=float(result), low_us=0.8 * result, high_us=1.2 * result,
                    bound="matrix", resources={"lds_bytes": 1024}, seconds=0.1,
                )  # fmt: skip


@pytest.fixture
def fake() -> Callable[[Rule], FakeExecutor]:
    """An executor that answers by a rule."""
    return FakeExecutor
