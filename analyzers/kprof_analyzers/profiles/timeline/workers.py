"""A step for each of many files, in processes of this machine or on a Dask cluster, of whose workers some may die."""

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
"""Files given out for each process: none waits for work, and few are done again when one dies."""

_CONNECT_SECONDS = 10
_WORKERS_SECONDS = 30


def in_processes(step: Callable[[F], Any], files: Sequence[F], died: Callable[[F], Any], workers: int) -> Iterator[Any]:
    """Results in the files' order.

    When a process dies, the others of its pool end with it. What they were at is then done one by one, each file in a
    process of its own, so that it is known which of them a process cannot survive.

    Args:
        step: what is done to each file; it can be pickled.
        files: the files.
        died: the result for a file whose process died twice.
        workers: processes, two or more.
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
            log("a worker process died; what it had is read again")
            done.update((place, _alone(step, files[place], died)) for place in sorted(running.values()))
        while given in done:
            yield done.pop(given)
            given += 1


def _pool(workers: int) -> ProcessPoolExecutor:
    # spawn: a forked child would inherit the threads of whatever the caller runs.
    return ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=end_with_parent, initargs=(os.getpid(),)
    )


@contextlib.contextmanager
def _main_hidden() -> Iterator[None]:
    """Start processes that do not import the caller's program.

    A spawned process imports ``__main__`` first, and a script without ``if __name__ == "__main__"`` would run again in
    each. Steps are functions of importable modules, so none needs it.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _alone(step: Callable[[F], Any], file: F, died: Callable[[F], Any]) -> Any:
    try:
        with _pool(1) as pool:
            with _main_hidden():
                future = pool.submit(step, file)
            return future.result()
    except BrokenProcessPool:
        return died(file)


def on_dask(step: Callable[[F], Any], files: Sequence[F], died: Callable[[F], Any], scheduler: str) -> Iterator[Any]:
    """Results in the files' order. The scheduler gives what a dead worker had to another one.

    Args:
        step: what is done to each file; the workers can import it.
        files: as the workers see them.
        died: the result for a file that more workers died of than the scheduler allows.
        scheduler: its address.

    Raises:
        InputError: Dask is missing or cannot be reached, has no workers, or goes away.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError("--scheduler needs Dask", hint="pip install distributed") from error
    # A lost connection is reported in one sentence here; its own log of it is a traceback.
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
