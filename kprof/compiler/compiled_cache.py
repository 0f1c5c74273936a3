"""Compiled kernels in kprof's cache: safe against concurrent runs and changed helpers.

A lookup has two steps. The index, keyed by the request, the installed Triton and the environment, lists the files that
a result was made from. If all of them have the same content, the result is served without importing Triton or the
user's file. Otherwise a worker loads the function and looks up the hash of the function's source with its helpers
(Triton's own ``cache_key``), the files and the constants of their modules. Both keys include Triton's identity, its
environment switches, and the parts of kprof that compile.
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
"""Parts of kprof that affect the result of a compile."""


def directory() -> Path | None:
    """Return the root of the cache, for workers; ``None`` for a user without a home folder."""
    location.check()
    return location.root()


def makers() -> list[str]:
    """Return the identities of Triton and of kprof's compiling parts, which affect every result.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    return [identity(), of_package(*MAKERS)]


def content_hash(request: CompileRequest, jit: Any, found: Dependencies) -> str:
    """Return the SHA-256 of a compile's inputs: source with helpers, request, Triton, environment, kprof's code."""
    given = [request.to_json(), switches.relevant(request.environment)]
    return key(makers(), jit.cache_key, *given, found.files, found.values)


def index_key(request: CompileRequest) -> str:
    """Return the SHA-256 of the inputs that are known before the user's file is read."""
    return key(makers(), request.key, switches.relevant(request.environment))


def lookup(request: CompileRequest, folder: Path) -> Compiled | None:
    """Return the result of an earlier compile of the same request from the same files, or ``None``.

    Raises:
        KprofError: if no usable Triton is installed, because its version is part of the key.
    """
    found = (fetch(request, digest, folder) for digest in _digests(request, folder))
    return next((compiled for compiled in found if compiled is not None), None)


def known(request: CompileRequest, folder: Path) -> str | None:
    """Return the hash of the result that :func:`lookup` would return, without reading the result.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    return next(_digests(request, folder), None)


def _digests(request: CompileRequest, folder: Path) -> Iterator[str]:
    """Yield the hashes of results that were made from the files in their present state."""
    variants = _INDEX.read_json(index_key(request), folder)
    for variant in variants if isinstance(variants, list) else ():
        match variant:
            case {"hash": str() as digest, "files": dict() as files} if unchanged(files):
                yield digest


def fetch(request: CompileRequest, digest: str, folder: Path) -> Compiled | None:
    """Return the cached result with this hash, or ``None``."""
    data = _OBJECTS.read(digest, folder)
    frame = None if data is None else unpack(bytearray(data))
    return None if frame is None else load_compiled(request, *frame, cached=True)


def keep(compiled: Compiled, found: Dependencies, folder: Path) -> None:
    """Store a result, and record the files it came from. A full or read-only disk is not an error."""
    if _OBJECTS.write(compiled.hash, pack(*dump_compiled(compiled)), folder):
        note(compiled, found, folder)


def note(compiled: Compiled, found: Dependencies, folder: Path) -> None:
    """Add a stored result to the index, if its files alone determine it."""
    if not found.complete:
        return
    name = index_key(compiled.request)
    variant = {"hash": compiled.hash, "files": found.files}
    others = [v for v in _INDEX.read_json(name, folder) or () if v != variant]
    _INDEX.write_json(name, [variant, *others[: _VARIANTS - 1]], folder)
