"""Compile kernels that kprof's cache does not contain, in workers that may crash."""

import atexit
import os
from collections.abc import Generator, Iterable
from functools import cache as once
from threading import Lock

from kprof.compiler.compiled_cache import directory
from kprof.compiler.defaults import TIMEOUT, default_jobs
from kprof.compiler.pool import Pool
from kprof.compiler.request import Compiled, CompileOutcome, CompileRequest
from kprof.compiler.versions import installed


def compile_kernel(request: CompileRequest, *, cache: bool = True, timeout: float = TIMEOUT) -> Compiled:
    """Compile one kernel.

    Args:
        request: the compile request; see :func:`kprof.targets.specialize.from_launch` and
            :func:`kprof.targets.signature.from_signature`.
        cache: whether to use kprof's cache for lookup and storage.
        timeout: maximum seconds.

    Raises:
        KprofError: if no usable Triton is installed, the file or function does not exist, an option is wrong, or the
            compiler rejected the kernel or crashed.
    """
    (outcome,) = compile_many([request], 1, cache=cache, timeout=timeout)
    return outcome.result()


def warm() -> None:
    """Start the worker of :func:`compile_kernel` ahead of the first compile, without waiting for it."""
    _shared().warm()


def compile_many(
    requests: Iterable[CompileRequest],
    jobs: int | None = None,
    *,
    cache: bool = True,
    timeout: float = TIMEOUT,
    pool: Pool | None = None,
) -> Generator[CompileOutcome, None, None]:
    """Compile many kernels; yield outcomes as they finish, each with the ``index`` of its request.

    A failure of one compile does not end the others. Requests are taken as workers become free, so a generator can
    decide late which request comes next.

    Args:
        requests: the compile requests.
        jobs: number of workers, by default one per CPU.
        cache: whether to use kprof's cache.
        timeout: maximum seconds per compile.
        pool: workers to use, which stay alive; by default those that this process keeps, and new ones while another
            call uses them.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    installed()
    folder = directory() if cache else None
    if pool is not None:
        yield from pool.run(requests, folder)
    elif _in_use.acquire(blocking=False):
        try:
            kept = _shared()
            kept.jobs, kept.timeout = jobs or default_jobs(), timeout
            yield from kept.run(requests, folder)
        finally:
            kept.keep(_MAX_IDLE_WORKERS)
            _in_use.release()
    else:
        with Pool(jobs, timeout) as own:
            yield from own.run(requests, folder)


_MAX_IDLE_WORKERS = 2
"""Number of idle workers that a process keeps for later compiles. Each holds Triton, about 150 MB."""
_in_use = Lock()
"""Lock held while :func:`compile_many` uses the shared workers, because a pool serves one call at a time."""


def _forget() -> None:
    """Forget the parent's workers in a fork, because a fork must not communicate with them."""
    global _in_use  # noqa: PLW0603 - the fork may have been made while another thread held it
    _shared.cache_clear()
    _in_use = Lock()


os.register_at_fork(after_in_child=_forget)


@once
def _shared() -> Pool:
    """Return the workers that compiles of this process share, so only the first compile waits for Triton's import."""
    pool = Pool(jobs=1)
    atexit.register(pool.close)
    return pool
