"""The way to compile kernels: in workers that may crash, with kprof's cache in front."""

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
        request: what to compile; see :func:`kprof.targets.specialize.from_launch` and
            :func:`kprof.targets.signature.from_signature`.
        cache: whether to look in kprof's cache and to keep the result there.
        timeout: seconds.

    Raises:
        KprofError: no usable Triton, no such file or function, wrong options, the compiler refused or crashed.
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
    """Compile many kernels; outcomes come as they are finished, each with the ``index`` of its request.

    Nothing that happens to one of them ends the others. Requests are taken as workers become free, so a generator
    can decide late what comes next.

    Args:
        requests: what to compile.
        jobs: workers at a time, by default one a CPU.
        cache: whether to use kprof's cache.
        timeout: seconds that one compile may take.
        pool: workers to use, which stay alive; by default new ones that end with the iterator.

    Raises:
        KprofError: no usable Triton.
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
    """The worker that single compiles share, so that only the first one waits for Triton's import."""
    pool = Pool(jobs=1)
    atexit.register(pool.close)
    return pool
