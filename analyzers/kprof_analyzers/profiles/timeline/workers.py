"""Apply a function to many files in local processes or on a Dask cluster, although some workers may die."""

import contextlib
import logging
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from types import ModuleType
from typing import Any, TypeVar

from kprof.children import end_with_parent
from kprof.errors import InputError
from kprof.output.writing import log

F = TypeVar("F")
_AHEAD = 2
"""Number of files submitted per process: enough to keep the process busy, but few to repeat if it dies."""

_CONNECT_SECONDS = 10
_WORKERS_SECONDS = 30


def in_processes(step: Callable[[F], Any], files: Sequence[F], died: Callable[[F], Any], workers: int) -> Iterator[Any]:
    """Yield the results in the order of the files.

    If a process dies, the other processes of its pool end as well. Their files are then processed one by one, each in
    its own process, to find the file that killed the process.

    Args:
        step: picklable function that is applied to each file.
        files: the files.
        died: returns the result for a file whose process died twice.
        workers: number of processes, at least two.
    """
    waiting, done, given = deque(range(len(files))), dict[int, Any](), 0
    while given < len(files):
        running: dict[Future[Any], int] = {}
        try:
            with _pool(workers) as pool:
                while waiting or running:
                    while waiting and len(running) < _AHEAD * workers:
                        with _main_hidden():
                            future = pool.submit(step, files[waiting[0]])
                        running[future] = waiting[0]
                        waiting.popleft()
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        done[running[future]] = future.result()
                        del running[future]
                    while given in done:
                        yield done.pop(given)
                        given += 1
        except BrokenProcessPool:
            log("a worker process died; its files are read again")
            done.update((place, _run_alone(step, files[place], died)) for place in sorted(running.values()))
        while given in done:
            yield done.pop(given)
            given += 1


def _pool(workers: int) -> ProcessPoolExecutor:
    # Start processes with "spawn", because forking a process with several threads is unsafe.
    return ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=end_with_parent, initargs=(os.getpid(),)
    )


@contextlib.contextmanager
def _main_hidden() -> Iterator[None]:
    """Context in which new processes do not import the caller's program.

    A spawned process imports ``__main__`` first, which would run a script without ``if __name__ == "__main__"`` again
    in each process. Steps are functions of importable modules and do not need ``__main__``.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _run_alone(step: Callable[[F], Any], file: F, died: Callable[[F], Any]) -> Any:
    try:
        with _pool(1) as pool:
            with _main_hidden():
                future = pool.submit(step, file)
            return future.result()
    except BrokenProcessPool:
        return died(file)


def on_dask(step: Callable[[F], Any], files: Sequence[F], died: Callable[[F], Any], scheduler: str) -> Iterator[Any]:
    """Yield the results in the order of the files; the scheduler reassigns the files of a dead worker.

    Args:
        step: function that is applied to each file; the workers must be able to import it.
        files: the files, with paths valid on the workers.
        died: returns the result for a file that killed more workers than the scheduler allows.
        scheduler: address of the scheduler.

    Raises:
        InputError: if Dask is missing or cannot be reached, has no workers, or becomes unreachable.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError("--scheduler needs Dask", hint="pip install distributed") from error
    # Silence Dask's log, which prints a traceback if the connection is lost. kprof reports the loss in one sentence.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    make: Any = distributed.Client
    try:
        client = make(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot reach the Dask scheduler {scheduler}: {error}") from error
    try:
        try:
            client.wait_for_workers(1, timeout=_WORKERS_SECONDS)
        except (TimeoutError, distributed.TimeoutError):
            raise InputError(f"the scheduler at {scheduler} has no workers") from None
        futures = [client.submit(step, file, pure=False) for file in files]
        for file, future in zip(files, futures, strict=True):
            try:
                yield future.result()
            except distributed.KilledWorker:
                yield died(file)
            except (CancelledError, OSError) as error:
                raise InputError(f"the scheduler at {scheduler} is gone") from error
            future.release()
    finally:
        client.close()
