"""kprof's own cache of compiled kernels, safe against concurrent runs, cut files and changed helpers.

Two steps lead to a result. The index, found by the request, the installed Triton and the environment, says from which
files a result was made; when all of them still have the same content it is served, without importing Triton or the
user's file. Otherwise a worker loads the function and looks under the hash of the function's source with its helpers
(Triton's own ``cache_key``), the files and the constants of their modules.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kprof.cache import files as store
from kprof.compiler import environment as switches
from kprof.compiler.encoding import dump_compiled, load_compiled
from kprof.compiler.request import Compiled, CompileRequest
from kprof.compiler.versions import identity
from kprof.importing.dependencies import Dependencies, unchanged

_VERSION = "1"
_VARIANTS = 8


def directory() -> Path:
    """Where this version of the cache lives."""
    return store.root() / f"compiled-{_VERSION}"


def content_hash(request: CompileRequest, jit: Any, found: Dependencies) -> str:
    """SHA-256 of what decides the result: source with its helpers, request, Triton, environment."""
    parts = [
        jit.cache_key,
        identity(),
        request.to_json(),
        switches.relevant(request.environment),
        found.files,
        found.values,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def index_key(request: CompileRequest) -> str:
    """SHA-256 of what is known before the user's file is read."""
    parts = [request.key, identity(), switches.relevant(request.environment)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


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
    variants = store.read_json(_index(folder, request))
    for variant in variants if isinstance(variants, list) else ():
        match variant:
            case {"hash": str() as digest, "files": dict() as files} if unchanged(files):
                yield digest


def fetch(request: CompileRequest, digest: str, folder: Path) -> Compiled | None:
    """The result with this hash, or ``None``."""
    if not digest.isalnum():
        return None
    frame = store.read(_object(folder, digest))
    if frame is None:
        return None
    try:
        return load_compiled(request, *frame, cached=True)
    except (KeyError, TypeError):
        return None


def keep(compiled: Compiled, found: Dependencies, folder: Path) -> None:
    """Store a result, and note the files it came from. A disk that is full or read-only is no error."""
    if store.write(_object(folder, compiled.hash), *dump_compiled(compiled)):
        note(compiled, found, folder)
        store.sweep_sometimes(folder)


def note(compiled: Compiled, found: Dependencies, folder: Path) -> None:
    """Put a stored result into the index, when its files alone decide it."""
    if not found.complete:
        return
    path = _index(folder, compiled.request)
    variants = store.read_json(path)
    others = [v for v in variants if v != {"hash": compiled.hash, "files": found.files}] if variants else []
    store.write_json(path, [{"hash": compiled.hash, "files": found.files}, *others[: _VARIANTS - 1]])


def _index(folder: Path, request: CompileRequest) -> Path:
    key = index_key(request)
    return folder / "index" / key[:2] / f"{key}.json"


def _object(folder: Path, digest: str) -> Path:
    return folder / "objects" / digest[:2] / digest
