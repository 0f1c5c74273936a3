"""Read a capture directory without executing or importing its files and without following symbolic links in it."""

import dataclasses
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from kprof.captures import layout
from kprof.captures import records as r
from kprof.captures.installed import package_of
from kprof.captures.journals import Gathered, JournalReader, Specialisation
from kprof.captures.model import (
    Capture,
    CapturedKernel,
    CapturedLaunch,
    CapturedOperator,
    Grid,
    LeftOutLaunches,
    unrun_words,
    with_candidates,
)
from kprof.captures.records import Sources
from kprof.captures.staleness import digest, root_of
from kprof.compiler.request import CompileRequest, from_json
from kprof.errors import InputError, KprofError
from kprof.findings import Location
from kprof.hardware.machine import Product, find_product
from kprof.inputs import plain_files
from kprof.inputs.boundary import JSON_ERRORS, refuse_repeated_keys


@dataclass(frozen=True)
class ProgramFiles:
    """Files that the recorded processes used. If two processes disagree about a file, the first record is used.

    Attributes:
        records: one record per process.
    """

    records: Sequence[Sources]

    @cached_property
    def files(self) -> dict[str, str]:
        """Digests of files below the root, by path."""
        return {name: content for one in reversed(self.records) for name, content in one.files.items()}

    @cached_property
    def outside(self) -> dict[str, str]:
        """Digests of files outside the root, by path."""
        return {name: content for one in reversed(self.records) for name, content in one.outside.items()}

    @cached_property
    def packages(self) -> dict[str, str]:
        """Digests of files of installed packages, by path."""
        return {name: content for one in reversed(self.records) for name, content in one.packages.items()}

    @cached_property
    def packages_absent(self) -> list[str]:
        """Paths that a process looked for in packages and did not find, except those that another process found."""
        sought = dict.fromkeys(name for one in self.records for name in one.packages_absent)
        return [name for name in sought if name not in self.packages]

    @cached_property
    def distributions(self) -> dict[str, str]:
        """Distribution of each package, except packages that contain a kernel of one of the processes."""
        plain = [{package_of(name) for name in one.packages} - one.distributions.keys() for one in self.records]
        with_kernels = set[str]().union(*plain)
        return {
            package: name
            for one in reversed(self.records)
            for package, name in one.distributions.items()
            if package not in with_kernels
        }

    @cached_property
    def imported(self) -> dict[str, str]:
        """The version of each distribution from which a module was imported."""
        return {name: version for one in reversed(self.records) for name, version in one.imported.items()}

    @cached_property
    def folders(self) -> dict[str, str]:
        """For each folder that the program listed, the digest of the names in it."""
        return {name: had for one in reversed(self.records) for name, had in one.folders.items()}

    @property
    def overflowed(self) -> bool:
        """Whether a process used more files than a capture keeps."""
        return any(one.overflowed for one in self.records)

    @cached_property
    def absent(self) -> list[str]:
        """Paths that a process looked for and did not find, except those that another process found or wrote."""
        had = {*self.files, *self.outside}.union(*(one.written for one in self.records))
        return [name for name in dict.fromkeys(name for one in self.records for name in one.absent) if name not in had]


_MAX_DEPTH = 32


def request_of(record: r.KernelRecord, arch: str, notes: list[str]) -> CompileRequest:
    """Return the compile request of a kernel. If it is damaged, add a note and return an empty request.

    Args:
        record: the kernel's record in the journal.
        arch: architecture of the capture.
        notes: list to which the note about damage is appended.
    """
    empty = CompileRequest(path="", function=record.name, arch=arch, signature={})
    damaged = f"{record.name}: the compile request is damaged"
    if _too_deep(record.request):
        notes.append(damaged)
        return empty
    try:
        request = from_json({**empty.to_json(), **record.request, "passes": False})
        _Checked(**{item.name: getattr(request, item.name) for item in dataclasses.fields(_Checked)}).verify()
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration, OverflowError):
        notes.append(damaged)
        return empty
    return request


@dataclass
class _Checked:
    """Fields of a compile request whose types :func:`from_json` does not check; :meth:`verify` checks them."""

    path: Any
    function: Any
    arch: Any
    attributes: Any
    environment: Any
    options: Any

    def verify(self) -> None:
        """Raise :class:`TypeError` if a field has a wrong type."""
        msgspec.convert([self.path, self.function, self.arch], list[r.Name])
        msgspec.convert(self.attributes, dict[str, dict[str, int]])
        msgspec.convert(self.environment, dict[str, str | None])
        msgspec.convert(list(self.options), list[r.Name])


def _too_deep(value: Any, depth: int = 0) -> bool:
    if depth > _MAX_DEPTH:
        return True
    if isinstance(value, dict):
        value = list(value.values())
    return isinstance(value, list) and any(_too_deep(item, depth + 1) for item in value)


def with_current_sources(
    kernel: CapturedKernel, now: Path, sources: Mapping[str, str], checkout: Path
) -> CapturedKernel:
    """Return a kernel with its source paths adjusted to their current location.

    Args:
        kernel: the kernel as it was recorded.
        now: folder that source paths are relative to, if the capture was moved together with the sources.
        sources: SHA-256 of source files, by path relative to that folder.
        checkout: folder to use if the kernel's source is neither in ``now`` nor at its recorded place, and
            ``checkout`` contains it unchanged.
    """
    place = Path(kernel.request.path)
    name = next((name for name in sources if place.parts[-len(Path(name).parts) :] == Path(name).parts), None)
    if name is None or not place.is_absolute() or kernel.source is None:
        return kernel
    before = place.parents[len(Path(name).parts) - 1]
    folder = Path(os.path.normpath(now.absolute()))
    if not (folder / name).is_file() and not place.is_file() and digest(checkout / name) == sources[name]:
        folder = checkout
    if before == folder or not (folder / name).is_file():
        return kernel
    moved = str(before), str(folder)
    site = tuple(msgspec.structs.replace(at, file=_at(at.file, moved)) for at in kernel.site)
    source = msgspec.structs.replace(kernel.source, file=_at(kernel.source.file, moved))
    return dataclasses.replace(kernel, source=source, site=site, moved=moved)


def _at(file: str, moved: tuple[str, str]) -> str:
    before, now = moved
    return now + file[len(before) :] if file.startswith(before + os.sep) else file


PROCESSES = 10_000
"""Maximum number of journals in a capture."""

_HEAD_DECODER = msgspec.json.Decoder(r.Head)
_RESULT = msgspec.json.Decoder(r.CompileRecord)


def read(path: str | Path) -> Capture:
    """Read a capture directory.

    Truncated or damaged parts are skipped with a note; the rest is returned.

    Raises:
        KprofError: the directory is not a capture, has another format version, or contains nothing readable.
    """
    root = Path(path)
    head = _head(root)
    gathered = Gathered()
    journals = _journals(root)
    for journal in journals:
        JournalReader(journal, gathered).all()
    if not journals:
        gathered.notes.append("nothing was recorded: no process of the program compiled a Triton kernel")
    unrun = sorted(gathered.unrun.values(), key=lambda operator: (-operator.calls, operator.name))
    left_out = [LeftOutLaunches(*what, launches) for what, launches in gathered.left_out.items()]
    words = "; ".join(filter(None, [*map(str, left_out), unrun_words(unrun)])) or None
    files = ProgramFiles(gathered.sources)
    sources = {**files.files, **head.sources}
    listed = {found: len(tuning.candidates) for tuning in gathered.tunings for found in tuning.candidates.values()}
    kernels = [
        _kernel(root, head, entry, words, gathered.notes, listed=listed.get(entry.record.id, 0))
        for entry in gathered.kernels.values()
    ]
    checkout = root_of(Path.cwd())
    kernels = [with_current_sources(kernel, root / head.root, sources, checkout) for kernel in kernels]
    by_id = {kernel.id: kernel for kernel in kernels}
    kernels = [
        with_candidates(kernel, gathered.kernels[kernel.id].tuning, by_id) if kernel.choice_unknown else kernel
        for kernel in kernels
    ]
    return Capture(
        path=root,
        head=head,
        kernels=kernels,
        processes=gathered.processes,
        executed=gathered.executed,
        tunings=[tuning for tuning in gathered.tunings if tuning.candidates],
        reads=gathered.reads,
        reads_count=gathered.reads_count,
        unrun=unrun,
        ran=dict(gathered.ran.most_common()),
        silent=dict(gathered.silent.most_common()),
        torch=dict(gathered.torch.most_common()),
        left_out=left_out,
        peak_bytes=max(gathered.peaks, default=None),
        notes=list(dict.fromkeys(gathered.notes)),
        complete=gathered.complete,
        sources=sources if gathered.sources else None,
        outside=files.outside,
        packages=files.packages,
        packages_absent=files.packages_absent,
        distributions=files.distributions,
        imported=files.imported,
        absent=files.absent,
        folders=files.folders,
        overflowed=files.overflowed,
    )


def launches(path: str | Path) -> Iterator[CapturedLaunch]:
    """Yield every launch of a capture, process by process, in launch order.

    Raises:
        KprofError: under the conditions of :func:`read`.
    """
    return (found for found in operations(path, replayed=False) if isinstance(found, CapturedLaunch))


def kernels_by_grid(path: str | Path) -> list[CapturedKernel]:
    """Return the kernels of a capture, once for every grid that they were launched with.

    Arguments and candidate configurations are those of the first launch with that grid. A kernel that was never
    launched is returned once, without a grid.

    Raises:
        KprofError: under the conditions of :func:`read`.
    """
    kernels = {kernel.id: kernel for kernel in read(path).kernels}
    first: dict[tuple[str, Grid], CapturedLaunch] = {}
    counts: Counter[tuple[str, Grid]] = Counter()
    for launch in launches(path):
        key = launch.kernel, launch.grid
        first.setdefault(key, launch)
        counts[key] += 1
    found = [kernel for kernel in kernels.values() if not kernel.launches]
    for key, launch in first.items():
        if launch.kernel in kernels:
            times = counts[key]
            of_grid = replace(
                kernels[launch.kernel], launches=times, grids={launch.grid: times}, arguments=launch.arguments
            )
            found.append(with_candidates(of_grid, launch.tuning, kernels))
    return found


def operations(path: str | Path, *, replayed: bool = True) -> Iterator[CapturedLaunch | CapturedOperator]:
    """Yield every launch and every recorded call of a torch operator, process by process, in order.

    Args:
        path: the capture.
        replayed: whether to yield the launches and calls of a captured GPU graph at each replay, as the GPU would run
            them. If False, they are yielded once, where the program captured them.

    Raises:
        KprofError: under the conditions of :func:`read`.
    """
    for number, journal in enumerate(_journals(Path(path))):
        state = JournalReader(journal, Gathered())
        graphs: dict[int, list[CapturedLaunch | CapturedOperator]] = {}
        captured: list[CapturedLaunch | CapturedOperator] | None = None
        for record in state.records():
            if isinstance(record, r.GraphRecord) and replayed:
                if record.what == "replay":
                    yield from graphs.get(record.graph, ())
                else:
                    captured = graphs.setdefault(record.graph, []) if record.what == "begin" else None
            elif (found := state.made(record, number)) is not None and captured is not None:
                captured.append(found)
            elif found is not None:
                yield found


def _head(root: Path) -> r.Head:
    path = root / layout.HEAD
    if not root.is_dir():
        raise InputError("no such directory", path=str(root))
    try:
        data = plain_files.read_bytes(path, plain_files.HEAD_LIMIT)
    except FileNotFoundError:
        raise InputError(
            "this is not a capture directory",
            path=str(root),
            hint=f"A capture directory contains {layout.HEAD}, which kprof capture writes.",
        ) from None
    try:
        refuse_repeated_keys(data, str(path), "is not the head of a capture")
        return _HEAD_DECODER.decode(data)
    except (ValueError, *JSON_ERRORS) as error:
        raise InputError(f"is not the head of a capture: {error}", path=str(path)) from None


def _journals(root: Path) -> list[Path]:
    folder = root / layout.JOURNAL
    if not plain_files.plain_folder(folder):
        return []
    found = sorted(p for p in folder.iterdir() if p.suffix == ".jsonl" and not p.name.startswith("."))
    if len(found) > PROCESSES:
        raise InputError(f"too many journals for a capture: {len(found):,}", path=str(folder))
    return found


def _kernel(
    root: Path, head: r.Head, entry: Specialisation, unrecorded: str | None, notes: list[str], *, listed: int
) -> CapturedKernel:
    record = entry.record
    request = request_of(record, head.arch, notes)
    folder = root / layout.KERNELS / record.id
    return CapturedKernel(
        id=record.id,
        name=record.name,
        arch=request.arch,
        triton=record.triton,
        compiler=record.compiler,
        module=record.module,
        source=Location(file=request.path, line=record.line) if record.line else None,
        request=request,
        result=_result(root, folder, notes),
        folder=folder,
        launches=entry.launches,
        grids=dict(entry.grids.most_common()),
        arguments=entry.arguments[entry.grids.most_common(1)[0][0]] if entry.grids else {},
        site=entry.site,
        configs=tuple(entry.configs),
        choice_unknown=bool(entry.chosen) and entry.chosen == entry.launches,
        product=_product(head.gpu or head.product or "", request.arch),
        product_assumed=not head.gpu,
        unrecorded=unrecorded,
        specialized=frozenset(record.specialized),
        listed=listed,
    )


def _product(name: str, arch: str) -> Product | None:
    """Return the product with this name, or ``None`` if there is none or it has another architecture."""
    found = find_product(name)
    return found if found is not None and found.arch == arch else None


def _result(root: Path, folder: Path, notes: list[str]) -> r.CompileRecord | None:
    if not (plain_files.plain_folder(root / layout.KERNELS) and plain_files.plain_folder(folder)):
        return None
    try:
        data = plain_files.read_bytes(folder / layout.RESULT, plain_files.LINE_LIMIT)
        refuse_repeated_keys(data, None, "not one result")
        return _RESULT.decode(data)
    except FileNotFoundError:
        return None
    except (KprofError, ValueError, *JSON_ERRORS) as error:
        notes.append(f"{folder.name}/{layout.RESULT} is damaged: {error}")
        return None
