"""Compiled kernels in kprof's cache: safe against concurrent runs and changed helpers.

Two steps lead to a result. The index, found by the request, the installed Triton and the environment, says from which
files a result was made; when all of them still have the same content it is served, without importing Triton or the
user's file. Otherwise a worker loads the function and looks under the hash of the function's source with its helpers
(Triton's own ``cache_key``), the files and the constants of their modules. Either is looked for under what stands for
Triton, its environment switches, and the parts of kprof that compile.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kprof.cache import location
from kprof.cache.entries import CacheSection
from kprof.cache.keys import key
from kprof.cache.own import of_package
from kprof.compiler import environment as switches
from kprof.compiler.encoding import dump_compiled, load_compiled
from kprof.compiler.request import Compiled, CompileRequest
from kprof.compiler.versions import identity
from kprof.compiler.wire import pack, unpack
from kprof.importing.dependencies import Dependencies, unchanged

_OBJECTS = CacheSection("compiled")
_INDEX = CacheSection("compiled-index")
_VARIANTS = 8
MAKERS = ("cache", "compiler", "importing", "simulation", "errors.py")
"""What of kprof decides what a compile gives."""


def directory() -> Path | None:
    """The root of the cache, for workers; ``None`` for a user without a home."""
    location.check()
    return location.root()


def makers() -> list[str]:
    """What stands for all that turns a request into code, the request and its files apart.

    Raises:
        KprofError: no usable Triton.
    """
    return [identity(), of_package(*MAKERS)]


def content_hash(request: CompileRequest, jit: Any, found: Dependencies) -> str:
    """SHA-256 of what decides the result: source with its helpers, request, Triton, environment, kprof's compiling."""
    given = [request.to_json(), switches.relevant(request.environment)]
    return key(makers(), jit.cache_key, *given, found.files, found.values)


def index_key(request: CompileRequest) -> str:
    """SHA-256 of what is known before the user's file is read."""
    return key(makers(), request.key, switches.relevant(request.environment))


def lookup(request: CompileRequest, folder: Path) -> Compiled | None:
    """The result of an earlier compile of the same request from the same files, or ``None``.

    Raises:
        KprofError: no usable Triton: its version is part of the question.
    """
    found = (fetch(request, digest, folder) for digest in _digests(request, folder))
    return next((compiled for compiled in found if compiled is not None), None)


def known(request: CompileRequest, folder: Path) -> str | None:
    """The hash of the result that :func:`lookup` would give, without reading it.

    Raises:
        KprofError: no usable Triton.
    """
    return next(_digests(request, folder), None)


def _digests(request: CompileRequest, folder: Path) -> Iterator[str]:
    """Hashes of results that were made from the files as they are now."""
    variants = _INDEX.read_json(index_key(request), folder)
    for variant in variants if isinstance(variants, list) else ():
        match variant:
            case {"hash": str() as digest, "files": dict() as files} if unchanged(files):
                yield digest


def fetch(request: CompileRequest, digest: str, folder: Path) -> Compiled | None:
    """The result with this hash, or ``None``."""
    data = _OBJECTS.read(digest, folder)
    frame = None if data is None else unpack(bytearray(data))
    return None if frame is None else load_compiled(request, *frame, cached=True)


def keep(compiled: Compiled, found: Dependencies, folder: Path) -> None:
    """Store a result, and note the files it came from. A disk that is full or read-only is no error."""
    if _OBJECTS.write(compiled.hash, pack(*dump_compiled(compiled)), folder):
        note(compiled, found, folder)


def note(compiled: Compiled, found: Dependencies, folder: Path) -> None:
    """Put a stored result into the index, when its files alone decide it."""
    if not found.complete:
        return
    name = index_key(compiled.request)
    variant = {"hash": compiled.hash, "files": found.files}
    others = [v for v in _INDEX.read_json(name, folder) or () if v != variant]
    _INDEX.write_json(name, [variant, *others[: _VARIANTS - 1]], folder)
