"""The process that compiles kernels. :mod:`kprof.compiler.pool` starts it; it may die at any time.

It reads requests from standard input and answers on standard output. Both streams are redirected before any foreign
code runs: output of the compiler or the user's file goes to a log on standard error, which the parent can read even
after this process has died.
"""

import gc
import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

from kprof.cache import location
from kprof.children import end_with_parent, own_streams
from kprof.compiler.encoding import dump_compiled
from kprof.compiler.failures import RefusedError, from_diagnostics
from kprof.compiler.request import Compiled, from_json
from kprof.compiler.wire import pack, unpack
from kprof.errors import KprofError
from kprof.importing.dependencies import Stamp, stale

_LOADED: dict[str, Stamp] = {}
_LOG = 2
_LOG_LIMIT = 1 << 20


def main() -> None:
    """Serve requests until standard input ends."""
    end_with_parent()
    location.silence()
    source, answers = own_streams(_LOG)
    module_path = list(sys.path)
    buffer = bytearray()
    _warm()
    # Freezing Triton's own objects exempts them from garbage collection, which saves a twentieth of the time.
    gc.collect()
    gc.freeze()
    _send(answers, {"kind": "ready"})
    while True:
        frame = unpack(buffer)
        if frame is None:
            data = source.read(1 << 16)
            if not data:
                return
            buffer += data
            continue
        if stale(_LOADED) or frame[0]["module_path"] != module_path:
            # Python keeps imported modules. Only a new process sees the present files, or files in other folders.
            _send(answers, {"kind": "stale"})
            return
        head, blobs = _serve(frame[0], answers)
        _send(answers, head, blobs)


def _warm() -> None:
    """Import Triton before the first request; an error is reported with the first answer."""
    from kprof.compiler import versions as triton_versions

    try:
        triton_versions.api()
    except KprofError:
        return


def _serve(message: dict[str, Any], answers: BinaryIO) -> tuple[dict[str, Any], dict[str, str | bytes]]:
    from kprof.compiler.cached_compile import build

    request = from_json(message["request"])
    os.ftruncate(_LOG, 0)
    if dict(os.environ) != message["environment"]:
        os.environ.clear()
        os.environ.update(message["environment"])

    def progress(stage: str) -> None:
        _send(answers, {"kind": "stage", "stage": stage})

    try:
        compiled = build(request, Path(message["cache"]) if message["cache"] else None, progress, log, _LOADED)
    except RefusedError as failure:
        explained = from_diagnostics(failure, log())
        head = _failure(explained) | {"stage": explained.stage, "diagnostics": explained.diagnostics}
        return head, dict(explained.stages)
    except KprofError as error:
        # A file that failed to import may have left some of its helpers imported, so this process must not be reused.
        return _failure(error) | {"stage": None, "diagnostics": log(), "retire": True}, {}
    if "finish" in message:
        progress("a judgement")
        return _finish(compiled, *message["finish"]), {}
    return _success(compiled)


def _finish(compiled: Compiled, function: str, argument: Any) -> dict[str, Any]:
    """Call a function, ``module:name``, with the compiled kernel; an exception is a failure of this request only."""
    from importlib import import_module

    module, _, name = function.partition(":")
    try:
        answer = getattr(import_module(module), name)(compiled, argument)
    except KprofError as error:
        return _failure(error) | {"stage": "a judgement", "diagnostics": log()}
    except Exception as error:  # noqa: BLE001 - the search continues after any exception of the function
        text = f"could not be judged: {type(error).__name__}: {error}"
        return _failure(KprofError(text)) | {"stage": "a judgement", "diagnostics": log()}
    return {"kind": "finished", "answer": answer}


def _success(compiled: Compiled) -> tuple[dict[str, Any], dict[str, str | bytes]]:
    head, blobs = dump_compiled(compiled)
    return {"kind": "compiled", "compiled": head, "cached": compiled.cached}, blobs


def _failure(error: KprofError) -> dict[str, Any]:
    return {
        "kind": "failed",
        "error": error.message,
        "path": error.path,
        "place": error.place,
        "hint": error.hint,
    }


def log(limit: int = _LOG_LIMIT) -> str:
    """Return the output since the current request began, limited to its last ``limit`` bytes."""
    size = os.fstat(_LOG).st_size
    data = os.pread(_LOG, limit, max(0, size - limit))
    return data.decode(errors="replace")


def _send(answers: BinaryIO, head: dict[str, Any], blobs: dict[str, str | bytes] | None = None) -> None:
    for part in pack(head, blobs):
        view = memoryview(part)
        while view:
            view = view[answers.write(view) :]
