"""Run compiles on a Dask cluster. Tasks of a dead worker are submitted again; results are kept on this machine."""

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any

import msgspec

from kprof.errors import KprofError
from kprof.tuning.executors.local import TIMEOUT
from kprof.tuning.work import Judge, TaskResult, TuningTask

CONNECT_SECONDS = 10
WORKERS_SECONDS = 30
IN_FLIGHT = 2
"""Tasks submitted per cluster thread. Two keep every thread busy; with more, later choices could use fewer results."""

_NO_MORE = object()
_POLL_SECONDS = 2
_RESULT_SECONDS = 30
"""Maximum seconds to fetch a result, a few kilobytes, from its worker."""


class DaskExecutor:
    """Executor on a Dask cluster, connected through its scheduler's address.

    Args:
        judge: function that analyses each compiled configuration.
        address: address of the scheduler, for example ``tcp://host:8786``.
        timeout: seconds for one compile.
        files: returns the files that the workers need, with their SHA-256.
        patience: seconds without any worker after which the search fails.

    Raises:
        KprofError: if Dask is not installed, or the address is invalid.
    """

    def __init__(
        self,
        judge: Judge,
        address: str,
        *,
        timeout: float = TIMEOUT,
        files: Callable[[], dict[str, str]] = dict,
        patience: float = 60.0,
    ) -> None:
        from importlib.util import find_spec

        if not address.startswith(("tcp://", "tls://", "ucx://", "inproc://")):
            raise KprofError(f"--scheduler takes an address such as tcp://host:8786, got {address!r}")
        if find_spec("distributed") is None:
            raise KprofError("--scheduler needs Dask", hint="pip install distributed")
        self.judge = judge
        self._address, self._timeout, self._files, self._patience = address, timeout, files, patience
        self._threads = 0

    @property
    def description(self) -> str:
        """Number of threads and address: ``8 threads at tcp://...``."""
        return f"{self._threads} Dask thread{'' if self._threads == 1 else 's'} at {self._address}"

    def run(self, tasks: Iterator[TuningTask | None]) -> Iterator[TaskResult]:
        """See :class:`kprof.tuning.work.Executor`.

        Raises:
            KprofError: if the scheduler does not answer or has no workers, or a worker has another Triton or other
                files.
        """
        distributed: Any = import_module("distributed")
        client = self._client()
        running: dict[Any, TuningTask] = {}
        try:
            try:
                client.wait_for_workers(1, timeout=WORKERS_SECONDS)
            except (TimeoutError, distributed.TimeoutError):
                raise KprofError(f"the scheduler at {self._address} has no workers") from None
            yield from self._run(client, tasks, running)
        finally:
            if running and client.status == "running":
                with suppress(OSError):
                    client.cancel(list(running))
            client.close()

    def check(self) -> None:
        """Check that the scheduler answers; called before tasks are prepared for it.

        Raises:
            KprofError: if it does not answer.
        """
        self._client().close()

    def _client(self) -> Any:
        distributed: Any = import_module("distributed")
        # kprof reports a lost connection in one sentence, so Dask's own log of it, a traceback, is suppressed.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        try:
            return distributed.Client(self._address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise KprofError(
                f"no Dask scheduler answers at {self._address}", hint="start one with dask scheduler and dask worker"
            ) from error

    def _run(
        self, client: Any, tasks: Iterator[TuningTask | None], running: dict[Any, TuningTask]
    ) -> Iterator[TaskResult]:
        given, more, seen = 0, True, time.monotonic()
        finished: SimpleQueue[Any] = SimpleQueue()
        again: list[TuningTask] = []
        while True:
            threads = _threads(client)
            self._threads = max(self._threads, threads)
            seen = time.monotonic() if threads else seen
            while len(running) < IN_FLIGHT * threads and (more or again):
                task = again.pop() if again else next(tasks, _NO_MORE)
                if task is None:
                    break
                if isinstance(task, TuningTask):
                    future = self._submit(client, task, given)
                    running[future] = task
                    future.add_done_callback(finished.put)
                    given += 1
                else:
                    more = False
            if not running and not again and not more:
                return
            yield from self._collect(finished, running, again)
            if client.status == "closed":
                raise KprofError(f"lost the scheduler at {self._address}; results so far are kept")
            if time.monotonic() - seen > self._patience:
                raise KprofError(f"the cluster at {self._address} has had no worker for {self._patience:.0f} s")

    def _submit(self, client: Any, task: TuningTask, number: int) -> Any:
        from kprof.compiler.versions import installed
        from kprof.tuning.executors.dask_worker import run_task

        payload = {
            "key": task.key,
            "request": task.request.to_json(),
            "launch": dict(task.launch),
            "function": self.judge.function,
            "timeout": self._timeout,
            "files": self._files(),
            "triton": installed().version,
        }
        return client.submit(run_task, payload, key=f"kprof-{task.key}-{number}", pure=False, priority=-number)

    def _collect(
        self, finished: "SimpleQueue[Any]", running: dict[Any, TuningTask], again: list[TuningTask]
    ) -> Iterator[TaskResult]:
        try:
            future = finished.get(timeout=_POLL_SECONDS)
        except Empty:
            return
        task = running.pop(future)
        answer = self._answer(future, task)
        future.release()
        if answer is None:
            again.append(task)
        else:
            yield answer

    def _answer(self, future: Any, task: TuningTask) -> TaskResult | None:
        """Return the result of a task; ``None`` if it was lost together with its worker or with a connection."""
        if future.status == "error":
            error = future.exception()
            if isinstance(error, KprofError):
                raise error
            if type(error).__name__ == "KilledWorker":
                return TaskResult(task.key, "lost", reason="lost: every worker that had it died")
            return TaskResult(task.key, "lost", reason=f"lost: {type(error).__name__}: {error}")
        if future.status != "finished":
            return None
        distributed: Any = import_module("distributed")
        try:
            return msgspec.convert(future.result(timeout=_RESULT_SECONDS), TaskResult)
        except (OSError, distributed.TimeoutError, CancelledError):
            # If the scheduler has just died, its connection closes before the client's status changes.
            return None


def _threads(client: Any) -> int:
    """Return the number of threads currently in the cluster; 0 while the cluster cannot be reached."""
    with suppress(OSError):
        return sum(client.nthreads().values()) if client.status == "running" else 0
    return 0
