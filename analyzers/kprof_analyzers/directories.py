"""Analyse all kernels of a directory in parallel, and cache the results.

The key of a cache entry is the content of the input files and of kprof's own files. A kernel is analysed again only
if one of these files changes.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kprof.cache import location
from kprof.cache.entries import CacheSection
from kprof.cache.own import derived_key
from kprof.children import end_with_parent
from kprof.compiler.defaults import default_jobs
from kprof.document import KernelReport
from kprof.errors import KprofError
from kprof.inputs import boundary
from kprof_analyzers.suppressions import source_text

if TYPE_CHECKING:
    from kprof.captures.model import Capture
    from kprof.targets.loaded import LoadedKernel

_REPORTS = CacheSection("directory-reports")
# Worker processes are used from this number of kernels on, because starting a process costs as much as analysing a few
# kernels.
_WORTH_PROCESSES = 8


@dataclass(frozen=True)
class DirectoryItem:
    """A kernel or file to analyse.

    Attributes:
        kind: ``capture`` for a kernel of a capture, or ``file``.
        root: the capture's directory, or the path of the file.
        name: identifier of the kernel in the capture; "" for a file.
        arch: architecture to assume if the file does not name one.
        key: SHA-256 of everything that affects the result.
    """

    kind: str
    root: str
    name: str = ""
    arch: str | None = None
    key: str = ""


@dataclass(frozen=True)
class Analysed:
    """Result of analysing an item: the reports of its kernels, or the problem that prevented the analysis."""

    kernels: Sequence[KernelReport] = ()
    problem: str | None = None


class _CacheEntry(msgspec.Struct):
    """Cache entry of an item: its result, and the hash of each source file that was read during its analysis."""

    sources: dict[str, str]
    analysed: Analysed


@dataclass(frozen=True)
class Directory:
    """Result of analysing a directory.

    Attributes:
        kernels: reports of the analysed kernels, in the order of the directory.
        problems: inputs that could not be read or compiled, with the reason.
        lost: compile errors of captured kernels, by kernel name and architecture.
    """

    kernels: list[KernelReport]
    problems: list[str]
    lost: dict[tuple[str, str], str]


def analyse_directory(
    path: Path,
    *,
    arch: str | None = None,
    all_configs: bool = False,
    jobs: int = 0,
    tell: Callable[[int, int], None] | None = None,
) -> Directory:
    """Analyse every kernel of a capture or of a directory that Triton wrote, and list unreadable inputs.

    Args:
        path: the directory.
        arch: architecture to assume where a file does not name one.
        all_configs: whether to include configurations of a capture that were not launched.
        jobs: number of processes; 0 means one per core.
        tell: called with the number of finished items and the number of all items.

    Raises:
        KprofError: if the directory contains no kernel.
    """
    from kprof.captures.layout import is_capture
    from kprof.targets.artefacts import load_directory

    items = _captured(path, all_configs=all_configs) if is_capture(path) else _files(path, arch)
    if not items:
        # Loading raises an error, whose message says what the directory contains instead of kernels.
        list(load_directory(path, arch))
    found: dict[DirectoryItem, Analysed] = {}
    seen: dict[str, str] = {}
    for item in items:
        known = _read_cached(item, seen)
        if known is not None:
            found[item] = known
    missing = [item for item in dict.fromkeys(items) if item not in found]
    for item, analysed in _analysed(missing, jobs or default_jobs()):
        found[item] = analysed
        if tell is not None:
            tell(len(found), len(items))
    kernels = [kernel for item in items for kernel in found[item].kernels]
    failed = [(item, found[item].problem or "") for item in items if found[item].problem is not None]
    lost = {
        _captured_identity(item)[:2]: problem
        for item, problem in failed
        if item.kind == "capture" and _captured_identity(item)[2]
    }
    problems = [" on ".join(_captured_identity(i)[:2]) + f": {p}" if i.kind == "capture" else p for i, p in failed]
    if not kernels:
        raise KprofError(problems[0] if problems else "no compiled kernel in this directory", path=str(path))
    return Directory(kernels, problems, lost)


def _captured_identity(item: DirectoryItem) -> tuple[str, str, bool]:
    """Return the name and architecture of a captured kernel, and whether its compile finished."""
    kernel = next(kernel for kernel in _capture(item.root).kernels if kernel.id == item.name)
    return kernel.name, kernel.arch, kernel.result is not None


def _captured(path: Path, *, all_configs: bool) -> list[DirectoryItem]:
    """Return the launched kernels of a capture, as :func:`kprof.targets.captured.load_capture` selects them."""
    kernels = _capture(str(path)).kernels
    launched = [kernel for kernel in kernels if kernel.launches]
    chosen = kernels if all_configs or not launched else launched
    return [_with_key(DirectoryItem("capture", str(path), kernel.id)) for kernel in chosen]


def _files(path: Path, arch: str | None) -> list[DirectoryItem]:
    from kprof.targets.artefacts import compiled_files

    folders: list[str] = []
    files = [
        _with_key(DirectoryItem("file", str(file), arch=arch))
        for file in compiled_files(path, lambda e: folders.append(e.filename))
    ]
    # Folders that cannot be listed are items like files, so that analysing them reports the reason.
    return [*files, *(DirectoryItem("file", folder, arch=arch) for folder in folders)]


@lru_cache(maxsize=2)
def _capture(path: str) -> "Capture":
    from kprof.captures.reader import read

    return read(path)


def _with_key(item: DirectoryItem) -> DirectoryItem:
    """Return the item with its cache key, or unchanged if its files cannot be read; its analysis reports the error."""
    try:
        parts = [part if isinstance(part, bytes) else part.encode() for part in _content(item)]
    except (OSError, KprofError):
        return item
    return replace(item, key=derived_key(item.arch, [hashlib.sha256(part).hexdigest() for part in parts]))


def _content(item: DirectoryItem) -> Iterable[str | bytes]:
    """Yield everything that affects the report of an item."""
    if item.kind == "file":
        path = Path(item.root)
        yield path.name
        for suffix in (path.suffix, ".json", ".ttgir"):
            sibling = path.with_suffix(suffix)
            yield boundary.content_of(sibling, boundary.LIMIT) or b""
        return
    kernel = next(kernel for kernel in _capture(item.root).kernels if kernel.id == item.name)
    yield from (kernel.name, kernel.compiler, kernel.text("amdgcn"), "" if kernel.compiler else kernel.text("ttgir"))
    said = [kernel.id, kernel.arch, kernel.triton, kernel.request.to_json(), kernel.choice_unknown, kernel.source]
    said += [kernel.product, kernel.product_assumed, kernel.unrecorded, kernel.listed]
    launch = [dict(kernel.metadata), list(kernel.grids.items())[:1], dict(kernel.arguments)]
    yield json.dumps([said, launch], default=str, sort_keys=True)
    for config, one in (*kernel.candidates.items(), *kernel.first_candidates.items()):
        yield config
        yield one.text("amdgcn") if one.ok else str(one.error)
        yield json.dumps([list(one.grids), dict(one.arguments)], default=str, sort_keys=True)


def _analysed(items: Sequence[DirectoryItem], jobs: int) -> Iterable[tuple[DirectoryItem, Analysed]]:
    if len(items) < _WORTH_PROCESSES or jobs == 1:
        for item in items:
            yield item, analyse_item(item)
        return
    from multiprocessing import get_context

    spawn = get_context("spawn")
    most = min(jobs, len(items))
    with ProcessPoolExecutor(most, mp_context=spawn, initializer=_begin, initargs=(os.getpid(),)) as processes:
        # Workers send their results as JSON, in the encoding of cached reports.
        for item, data in zip(items, processes.map(_in_process, items, chunksize=4), strict=True):
            yield item, _decode(data)


def _begin(parent: int) -> None:
    """Initialise a worker process: end it with its parent, and silence messages about the cache location."""
    end_with_parent(parent)
    location.silence()


def _in_process(item: DirectoryItem) -> bytes:
    return _encode(analyse_item(item))


def analyse_item(item: DirectoryItem) -> Analysed:
    """Analyse a kernel or file and cache its report."""
    from kprof_analyzers.pipeline import analyze

    try:
        loaded = list(_load(item))
        # Encode and decode, so that the result equals one from the cache: JSON has no tuples.
        analysed = _decode(_encode(Analysed([analyze(kernel) for kernel in loaded])))
    except KprofError as error:
        return Analysed(problem=str(error) if item.kind == "file" else error.message)
    if item.key:
        sources = _contents({frame.file for kernel in loaded for frame in _frames(kernel)})
        _REPORTS.write(item.key, [msgspec.json.encode(_CacheEntry(sources, analysed), enc_hook=str)])
    return analysed


def _load(item: DirectoryItem) -> "Iterable[LoadedKernel]":
    if item.kind == "file":
        from kprof.targets.artefacts import load_file

        yield from load_file(Path(item.root), item.arch)
        return
    from kprof.targets.captured import loaded

    yield loaded(next(kernel for kernel in _capture(item.root).kernels if kernel.id == item.name))


def _frames(kernel: "LoadedKernel") -> Iterable[Any]:
    return (frame for i in kernel.program.instructions for frame in (i.user_frame,) if frame is not None)


def _contents(files: Iterable[str]) -> dict[str, str]:
    """Return the hash of each file that may contain ignore comments, which change findings; "" for other files."""
    found = {}
    for file in sorted(files):
        text = source_text(file)
        found[file] = "" if text is None else hashlib.sha256(text).hexdigest()
    return found


def _read_cached(item: DirectoryItem, seen: dict[str, str]) -> Analysed | None:
    """Return the cached result of an item, or ``None`` if the cache has no entry or the entry is outdated.

    ``seen`` caches the hashes of source files that were read for other items.
    """
    data = _REPORTS.read(item.key) if item.key else None
    if data is None:
        return None
    kept = msgspec.json.decode(data, type=_CacheEntry)
    seen.update(_contents(kept.sources.keys() - seen))
    return kept.analysed if all(seen[file] == content for file, content in kept.sources.items()) else None


def _encode(analysed: Analysed) -> bytes:
    return msgspec.json.encode(analysed, enc_hook=str)


def _decode(data: bytes) -> Analysed:
    return msgspec.json.decode(data, type=Analysed)
