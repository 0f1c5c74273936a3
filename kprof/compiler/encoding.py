"""Encode compiled kernels and outcomes as a JSON head and raw blobs, for the pipe to workers and for the cache."""

import zlib
from collections.abc import Mapping
from typing import Any

from kprof.compiler.request import Compiled, CompileOutcome, CompileRequest

_PASSES = "passes"
_DUMP_LIMIT = 1 << 29


def dump_compiled(compiled: Compiled) -> tuple[dict[str, Any], dict[str, str | bytes]]:
    """Return the head and the blobs of a compiled kernel, without its request."""
    head = {
        "metadata": dict(compiled.metadata),
        "triton_version": compiled.triton_version,
        "seconds": compiled.seconds,
        "hash": compiled.hash,
        "source_line": compiled.source_line,
        "source_path": compiled.source_path,
        "in_memory": list(compiled.in_memory),
        "stage_seconds": dict(compiled.stage_seconds),
        "diagnostics": compiled.diagnostics,
        "missing": dict(compiled.missing),
    }
    blobs = dict(compiled.stages)
    if compiled.passes is not None:
        # A dump has dozens of nearly equal modules, and compresses to about a hundredth of its size.
        blobs[_PASSES] = zlib.compress(compiled.passes.text.encode(), 1)
    return head, blobs


def load_compiled(
    request: CompileRequest, head: Mapping[str, Any], blobs: Mapping[str, str | bytes], *, cached: bool
) -> Compiled:
    """Return the compiled kernel that :func:`dump_compiled` encoded.

    Raises:
        KeyError, TypeError: if another version of kprof wrote the head.
    """
    stages = dict(blobs)
    dump = stages.pop(_PASSES, None)
    passes = None
    if isinstance(dump, bytes):
        from kprof.compiler.passes import PassHistory

        passes = PassHistory(zlib.decompressobj().decompress(dump, _DUMP_LIMIT).decode(errors="replace"))
    return Compiled(
        request=request,
        stages=stages,
        metadata=head["metadata"],
        triton_version=head["triton_version"],
        seconds=head["seconds"],
        cached=cached,
        hash=head["hash"],
        source_line=head["source_line"],
        source_path=head["source_path"],
        in_memory=tuple(head["in_memory"]),
        stage_seconds=head["stage_seconds"],
        diagnostics=head["diagnostics"],
        missing=head["missing"],
        passes=passes,
    )


def load_failure(request: CompileRequest, head: Mapping[str, Any], stages: Mapping[str, str | bytes]) -> CompileOutcome:
    """Return the outcome for a failure that a worker reported."""
    return CompileOutcome(
        request=request,
        status="failed",
        error=head["error"],
        path=head["path"],
        place=head["place"],
        hint=head["hint"],
        stage=head["stage"],
        diagnostics=head["diagnostics"],
        stages=stages,
    )
