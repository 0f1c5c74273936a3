"""The function that runs in Dask workers: one task at a time per thread, in a child process that may crash."""

import atexit
import threading
from collections.abc import Mapping
from typing import Any

import msgspec

from kprof.compiler.compiled_cache import directory
from kprof.compiler.pool import Finish, Pool
from kprof.compiler.request import from_json
from kprof.compiler.versions import installed
from kprof.errors import KprofError
from kprof.importing.dependencies import unchanged
from kprof.tuning.work import TuningTask, answer_of

_LOCAL = threading.local()


def run_task(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Compile a task's kernel and analyse the result.

    Args:
        payload: ``key``, ``request``, ``launch``, ``function`` (the judge), ``timeout``, ``files`` with their SHA-256,
            and the client's ``triton`` version.

    Returns:
        A :class:`kprof.tuning.work.TaskResult` as plain values.

    Raises:
        KprofError: if this machine has another Triton or another kernel file, so its results would be meaningless.
    """
    version = installed().version
    if version != payload["triton"]:
        raise KprofError(f"a worker has Triton {version}, but the search uses {payload['triton']}")
    if not unchanged(payload["files"]):
        raise KprofError(
            f"a worker sees other contents of {', '.join(payload['files'])}",
            hint="the kernel's files must have the same path and contents on every machine",
        )
    task = TuningTask(payload["key"], from_json(payload["request"]), payload["launch"])
    pool = _pool(payload["timeout"])
    (outcome,) = pool.run([task.request], directory(), Finish(payload["function"], lambda _: dict(task.launch)))
    answer: dict[str, Any] = msgspec.to_builtins(answer_of(task, outcome))
    return answer


def _pool(timeout: float) -> Pool:
    """Return this thread's pool of one process, which is kept so that Triton is imported once."""
    pool = getattr(_LOCAL, "pool", None)
    if not isinstance(pool, Pool):
        pool = Pool(1, timeout)
        _LOCAL.pool = pool
        atexit.register(pool.close)
    return pool
