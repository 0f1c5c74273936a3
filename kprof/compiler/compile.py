"""Compile kernels that kprof's cache does not contain, in workers that may crash."""

import atexit
from collections.abc import Generator, Iterable
from functools import cache as once

from kprof.compiler.compiled_cache import directory
from kprof.compiler.defaults import TIMEOUT
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
    pool = _shared()
    pool.timeout = timeout
    (outcome,) = compile_many([request], cache=cache, pool=pool)
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
        pool: workers to use, which stay alive; by default new ones that end with the iterator.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    installed()
    folder = directory() if cache else None
    if pool is not None:
        yield from pool.run(requests, folder)
        return
    with Pool(jobs, timeout) as own:
        yield from own.run(requests, folder)


@once
def _shared() -> Pool:
    """Return the worker that single compiles share, so only the first compile waits for Triton's import."""
    pool = Pool(jobs=1)
    atexit.register(pool.close)
    return pool
