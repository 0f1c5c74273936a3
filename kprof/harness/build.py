"""One compile with the cache around it: what a worker does for a request."""

from collections.abc import Callable
from pathlib import Path

from kprof.harness.engine import Progress, compile_here
from kprof.harness.request import Compiled, CompileRequest

Log = Callable[[int], str]


def build(request: CompileRequest, cache: Path | None, progress: Progress, log: Callable[..., str]) -> Compiled:
    """Compile, or take from the cache below ``cache``.

    Raises:
        KprofError: as :func:`kprof.harness.engine.compile_here`.
    """
    from dataclasses import replace

    compiled = compile_here(request, progress)
    printed = "\n".join(filter(None, (compiled.diagnostics, log().strip())))
    return replace(compiled, diagnostics=printed)
