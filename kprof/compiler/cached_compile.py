"""Compile one request in a worker, unless kprof's cache contains its result."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kprof.compiler import compiled_cache, versions
from kprof.compiler import environment as switches
from kprof.compiler.in_process import Progress, compile_function, function_of, hash_of
from kprof.compiler.request import Compiled, CompileRequest
from kprof.importing.dependencies import Stamp, stamps
from kprof.importing.functions import Function

_LOG_LIMIT = 1 << 20
_DUMP_LIMIT = 1 << 29


def build(
    request: CompileRequest,
    cache: Path | None,
    progress: Progress,
    log: Callable[[int], str],
    loaded: dict[str, Stamp],
) -> Compiled:
    """Compile a request, or fetch its result from the cache in the folder ``cache``.

    Args:
        request: the compile request.
        cache: see :mod:`kprof.compiler.compiled_cache`; ``None``: no cache.
        progress: called with each stage before it starts.
        log: returns the end of the output so far, limited to the given number of bytes.
        loaded: files that this process has imported; the request's files are added.

    Raises:
        KprofError: if the file or function is missing, an environment variable is wrong, or
            :func:`kprof.compiler.in_process.compile_function` fails.
    """
    api = versions.api()
    switches.check(request.environment)
    with switches.applied(request.environment):
        function = function_of(request)
        loaded.update(stamps(function.dependencies.files))
        if cache is not None:
            found = compiled_cache.fetch(request, hash_of(request, function), cache)
            if found is not None:
                compiled_cache.note(found, function.dependencies, cache)
                return found
        if request.passes:
            compiled = _with_passes(request, function, progress, log)
        else:
            compiled = compile_function(api, request, function, progress)
            compiled = _with_diagnostics(compiled, log(_LOG_LIMIT))
        if cache is not None:
            compiled_cache.keep(compiled, function.dependencies, cache)
    return compiled


def _with_passes(
    request: CompileRequest, function: Function, progress: Progress, log: Callable[[int], str]
) -> Compiled:
    """Compile while MLIR prints the module before every pass, and keep the printed modules."""
    from kprof.compiler.passes import STAGE_MARK, PassHistory

    def marked(stage: str) -> None:
        os.write(2, f"{STAGE_MARK}{stage}\n".encode())
        progress(stage)

    with switches.applied({"MLIR_ENABLE_DUMP": "1"}):
        compiled = compile_function(versions.api(), request, function, marked)
    text = log(_DUMP_LIMIT)
    start = text.find(STAGE_MARK)
    compiled = _with_diagnostics(compiled, text[:start] if start > 0 else "")
    return replace(compiled, passes=PassHistory(text[max(start, 0) :]))


def _with_diagnostics(compiled: Compiled, printed: str) -> Compiled:
    return replace(compiled, diagnostics="\n".join(filter(None, (compiled.diagnostics, printed.strip()))))
