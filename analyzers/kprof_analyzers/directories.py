"""Analysing all kernels of a directory, several at a time. What was analysed before is remembered.

An entry is found again by the content of the files that it was made from and of kprof's own, so nothing is analysed a
second time until one of them changes.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kprof.cache import files as store
from kprof.compiler.defaults import default_jobs
from kprof.document import KernelReport
from kprof.errors import KprofError

if TYPE_CHECKING:
    from kprof.captures.model import Capture
    from kprof.targets.loaded import LoadedKernel

_MEMO = "reports-1"
# Starting a process costs as much as analysing a few kernels.
_WORTH_PROCESSES = 8


@dataclass(frozen=True)
class Item:
    """Something to analyse.

    Attributes:
        kind: ``capture`` or ``file``.
        root: the capture's directory, or the file.
        name: identifier of the kernel in the capture.
        arch: architecture to assume where a file does not say.
        key: SHA-256 of everything that decides the result.
    """

    kind: str
    root: str
    name: str = ""
    arch: str | None = None
    key: str = ""


@dataclass(frozen=True)
class Analysed:
    """What came of an item: its kernels, or the reason why there are none."""

    kernels: Sequence[KernelReport] = ()
    problem: str | None = None


@dataclass(frozen=True)
class Directory:
    """What came of a directory.

    Attributes:
        kernels: those that were read, in the order of the directory.
        problems: what was not read or compiled, and why.
        lost: name and architecture of captured kernels that did not compile, with the reason.
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
    """Every kernel of a capture or of a directory that Triton wrote, and what of it could not be read.

    Args:
        path: the directory.
        arch: architecture to assume where a file does not say.
        all_configs: of a capture, also what was not launched.
        jobs: processes, 0 for one a core.
        tell: is told how many of how many are done.

    Raises:
        KprofError: the directory holds no kernel.
    """
    from kprof.captures.reader import is_capture
    from kprof.targets.artefacts import load_directory

    items = _captured(path, all_configs=all_configs) if is_capture(path) else _files(path, arch)
    if not items:
        # Says what the directory holds instead.
        list(load_directory(path, arch))
    found: dict[Item, Analysed] = {}
    for item in items:
        known = _remembered(item)
        if known is not None:
            found[item] = known
    missing = [item for item in dict.fromkeys(items) if item not in found]
    for item, analysed in _analysed(missing, jobs or default_jobs()):
        found[item] = analysed
        if tell is not None:
            tell(len(found), len(items))
    kernels = [kernel for item in items for kernel in found[item].kernels]
    failed = [(item, found[item].problem or "") for item in items if found[item].problem is not None]
    lost = {_subject(item)[:2]: problem for item, problem in failed if item.kind == "capture" and _subject(item)[2]}
    problems = [" on ".join(_subject(i)[:2]) + f": {p}" if i.kind == "capture" else p for i, p in failed]
    if not kernels:
        raise KprofError(problems[0] if problems else "no compiled kernel in this directory", path=str(path))
    return Directory(kernels, problems, lost)


def _subject(item: Item) -> tuple[str, str, bool]:
    """Name and architecture of a captured kernel, and whether its compile came to an end."""
    kernel = next(kernel for kernel in _capture(item.root).kernels if kernel.id == item.name)
    return kernel.name, kernel.arch, kernel.result is not None


def _captured(path: Path, *, all_configs: bool) -> list[Item]:
    """What was launched, as :func:`kprof.targets.captured.load_capture` takes it."""
    kernels = _capture(str(path)).kernels
    launched = [kernel for kernel in kernels if kernel.launches]
    chosen = kernels if all_configs or not launched else launched
    return [_with_key(Item("capture", str(path), kernel.id)) for kernel in chosen]


def _files(path: Path, arch: str | None) -> list[Item]:
    from kprof.targets.artefacts import compiled_files

    return [_with_key(Item("file", str(file), arch=arch)) for file in compiled_files(path)]


@lru_cache(maxsize=2)
def _capture(path: str) -> "Capture":
    from kprof.captures.reader import read

    return read(path)


def _with_key(item: Item) -> Item:
    """The item with its key; without one when its files cannot be read: that is told when it is analysed."""
    digest = hashlib.sha256(f"{own_version()} {item.arch}".encode())
    try:
        for part in _content(item):
            data = part if isinstance(part, bytes) else part.encode()
            digest.update(f"{len(data)} ".encode() + data)
    except (OSError, KprofError):
        return item
    return replace(item, key=digest.hexdigest())


def _content(item: Item) -> Iterable[str | bytes]:
    """Everything that decides what is said of an item."""
    if item.kind == "file":
        path = Path(item.root)
        yield path.name
        for suffix in (path.suffix, ".json", ".ttgir"):
            sibling = path.with_suffix(suffix)
            yield sibling.read_bytes() if sibling.is_file() else b""
        return
    kernel = next(kernel for kernel in _capture(item.root).kernels if kernel.id == item.name)
    yield from (kernel.name, kernel.text("amdgcn"), kernel.text("ttgir"))
    said = [kernel.id, kernel.arch, kernel.triton, kernel.request.to_json(), kernel.choice_unknown, kernel.source]
    launch = [dict(kernel.metadata), list(kernel.grids.items())[:1], dict(kernel.arguments)]
    yield json.dumps([said, launch], default=str, sort_keys=True)


def _analysed(items: Sequence[Item], jobs: int) -> Iterable[tuple[Item, Analysed]]:
    if len(items) < _WORTH_PROCESSES or jobs == 1:
        for item in items:
            yield item, analyse_item(item)
        return
    from multiprocessing import get_context

    with ProcessPoolExecutor(min(jobs, len(items)), mp_context=get_context("spawn")) as processes:
        # Results travel as JSON, through the memo's own encoding.
        for item, data in zip(items, processes.map(_in_process, items, chunksize=4), strict=True):
            yield item, _decode(data)


def _in_process(item: Item) -> bytes:
    return _encode(analyse_item(item))


def analyse_item(item: Item) -> Analysed:
    """Analyse one item and remember it."""
    from kprof_analyzers.pipeline import analyze

    try:
        loaded = list(_load(item))
        # As it is read back: JSON knows no tuples.
        analysed = _decode(_encode(Analysed([analyze(kernel) for kernel in loaded])))
    except KprofError as error:
        return Analysed(problem=str(error) if item.kind == "file" else error.message)
    if item.key:
        head = {"sources": _states({frame.file for kernel in loaded for frame in _frames(kernel)})}
        store.write(_place(item), head, {"reports": _encode(analysed)})
        store.sweep_sometimes(store.root() / _MEMO)
    return analysed


def _load(item: Item) -> "Iterable[LoadedKernel]":
    if item.kind == "file":
        from kprof.targets.artefacts import load_file

        yield from load_file(Path(item.root), item.arch)
        return
    from kprof.targets.captured import loaded

    yield loaded(next(kernel for kernel in _capture(item.root).kernels if kernel.id == item.name))


def _frames(kernel: "LoadedKernel") -> Iterable[Any]:
    return (frame for i in kernel.program.instructions for frame in (i.user_frame,) if frame is not None)


def _states(files: Iterable[str]) -> dict[str, list[int]]:
    """Size and time of source files: comments in them silence rules."""
    found: dict[str, list[int]] = {}
    for file in sorted(files):
        try:
            state = os.stat(file)  # noqa: PTH116  # a name from elsewhere: only looked at
            found[file] = [state.st_size, state.st_mtime_ns]
        except (OSError, ValueError):
            found[file] = []
    return found


def _remembered(item: Item) -> Analysed | None:
    frame = store.read(_place(item)) if item.key else None
    if frame is None:
        return None
    head, blobs = frame
    sources, data = head.get("sources"), blobs.get("reports")
    if not isinstance(sources, dict) or not isinstance(data, bytes) or _states(sources) != sources:
        return None
    try:
        return _decode(data)
    except msgspec.DecodeError:
        return None


def _place(item: Item) -> Path:
    return store.root() / _MEMO / item.key[:2] / item.key


def _encode(analysed: Analysed) -> bytes:
    return msgspec.json.encode(analysed, enc_hook=str)


def _decode(data: bytes) -> Analysed:
    return msgspec.json.decode(data, type=Analysed)


@cache
def own_version() -> str:
    """Changes when any file of kprof does: name, size and time."""
    import kprof.version
    import kprof_analyzers

    digest = hashlib.sha256(kprof.version.__version__.encode())
    for package in (kprof, kprof_analyzers):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*")):
            if path.suffix in {".py", ".toml", ".txt"}:
                state = path.stat()
                digest.update(f"{path.relative_to(root)} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()
