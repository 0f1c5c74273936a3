"""One compile with the cache around it: what a worker does for a request."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kprof.harness import cache as shelf
from kprof.harness import environment as switches
from kprof.harness import triton_versions as versions
from kprof.harness.dependencies import Stamp, stamps
from kprof.harness.engine import Progress, compile_function, hash_of
from kprof.harness.request import Compiled, CompileRequest
from kprof.harness.source import load_function


def build(
    request: CompileRequest,
    cache: Path | None,
    progress: Progress,
    log: Callable[[], str],
    loaded: dict[str, Stamp],
) -> Compiled:
    """Compile, or take from the cache in the folder ``cache``.

    Args:
        request: what to compile.
        cache: see :mod:`kprof.harness.cache`; ``None`` to do without.
        progress: is told each stage before it is made.
        log: gives what was printed so far.
        loaded: files that this process has imported; those of the request are added.

    Raises:
        KprofError: as :func:`kprof.harness.engine.compile_here`.
    """
    api = versions.api()
    switches.check(request.environment)
    with switches.applied(request.environment):
        function = load_function(request.path, request.function)
        loaded.update(stamps(function.dependencies.files))
        if cache is not None:
            found = shelf.fetch(request, hash_of(request, function), cache)
            if found is not None:
                shelf.note(found, function.dependencies, cache)
                return found
        compiled = compile_function(api, request, function, progress)
        printed = "\n".join(filter(None, (compiled.diagnostics, log().strip())))
        compiled = replace(compiled, diagnostics=printed)
        if cache is not None:
            shelf.keep(compiled, function.dependencies, cache)
    return compiled
