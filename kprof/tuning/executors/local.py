"""Run compiles in processes on this machine; a crash of one process does not affect the others."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

from kprof.compiler.compiled_cache import directory
from kprof.compiler.pool import Finish, Pool
from kprof.compiler.versions import installed
from kprof.deadline import Deadline
from kprof.tuning.work import Judge, TaskResult, TuningTask, answer_of

if TYPE_CHECKING:
    from kprof.compiler.request import CompileRequest

TIMEOUT = 120.0
"""Maximum seconds for one compile: a hundred times what a large kernel needs."""


class LocalExecutor:
    """Executor with worker processes on this machine.

    Args:
        judge: function that analyses each compiled configuration.
        jobs: number of workers; ``None``: one per CPU.
        timeout: seconds for one compile.
        pool: workers to use, which stay alive; by default new ones for each run.
    """

    def __init__(
        self, judge: Judge, jobs: int | None = None, timeout: float = TIMEOUT, *, pool: Pool | None = None
    ) -> None:
        self.judge = judge
        self._jobs, self._timeout, self._pool = jobs, timeout, pool

    @property
    def description(self) -> str:
        """The number of worker processes in words: ``2 processes``."""
        from kprof.compiler.defaults import default_jobs

        count = self._jobs or default_jobs()
        return f"{count} process{'' if count == 1 else 'es'}"

    def run(self, tasks: Iterator[TuningTask | None]) -> Iterator[TaskResult]:
        """See :class:`kprof.tuning.work.Executor`.

        Raises:
            KprofError: if no usable Triton is installed.
        """
        installed()
        given: dict[int, TuningTask] = {}

        def requests() -> "Iterator[CompileRequest | None]":
            for index, task in enumerate(tasks):
                if task is not None:
                    given[index] = task
                yield None if task is None else task.request

        finish = Finish(self.judge.function, lambda index: dict(given[index].launch))
        with Pool(self._jobs, self._timeout) if self._pool is None else nullcontext(self._pool) as pool:
            for outcome in pool.run(requests(), directory(), finish):
                yield answer_of(given.pop(outcome.index), outcome)


def judged(
    tasks: Iterable[TuningTask],
    judge: Judge,
    deadline: Deadline,
    *,
    workers: int = 0,
    timeout: float = TIMEOUT,
    at_least: int = 0,
) -> dict[str, TaskResult]:
    """Return the results of tasks by key; tasks that had not started at the deadline are missing.

    Args:
        tasks: tasks, consumed as workers become free.
        judge: function that analyses each compiled configuration.
        deadline: time after which no further compile starts.
        workers: worker processes, 0 for one per core.
        timeout: seconds for one compile.
        at_least: number of leading tasks that run even after the deadline.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    executor = LocalExecutor(judge, workers or None, timeout)
    return {answer.key: answer for answer in executor.run(deadline.taking(tasks, at_least))}
