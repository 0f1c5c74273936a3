"""Reading a capture directory. Nothing in it is executed or imported, and no link in it is followed."""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from kprof.captures import layout
from kprof.captures import records as r
from kprof.captures.arguments import argument
from kprof.captures.model import (
    Capture,
    CapturedKernel,
    CapturedLaunch,
    CapturedOperator,
    CapturedTuning,
    Grid,
    ModelScope,
    UnrunOperator,
    unrun_words,
)
from kprof.captures.moved import in_place
from kprof.captures.program_files import ProgramFiles
from kprof.captures.requests import request_of
from kprof.captures.staleness import root_of
from kprof.errors import InputError, KprofError
from kprof.findings import Location
from kprof.hardware.machine import Product, find_product
from kprof.inputs import plain_files
from kprof.inputs.boundary import JSON_ERRORS

PROCESSES = 10_000
"""Journals of one capture."""

_HEAD = msgspec.json.Decoder(r.Head)
_RESULT = msgspec.json.Decoder(r.CompileRecord)
_RECORD: msgspec.json.Decoder[r.Record] = msgspec.json.Decoder(r.Record)


def read(path: str | Path) -> Capture:
    """Read a capture directory.

    What is cut off or damaged in it is left out, with a note; the rest is returned.

    Raises:
        KprofError: it is no capture, of another version, or none of it can be read.
    """
    root = Path(path)
    head = _head(root)
    gathered = _Gathered()
    journals = _journals(root)
    for journal in journals:
        _Journal(journal, gathered).all()
    if not journals:
        gathered.notes.append("nothing was recorded: no process of the program compiled a Triton kernel")
    unrun = sorted(gathered.unrun.values(), key=lambda operator: (-operator.calls, operator.name))
    words = unrun_words(unrun)
    files = ProgramFiles(gathered.sources)
    sources = {**files.files, **head.sources}
    listed = {found: len(tuning.candidates) for tuning in gathered.tunings for found in tuning.candidates.values()}
    kernels = [
        _kernel(root, head, entry, words, gathered.notes, listed=listed.get(entry.record.id, 0))
        for entry in gathered.kernels.values()
    ]
    checkout = root_of(Path.cwd())
    kernels = [in_place(kernel, root / head.root, sources, checkout) for kernel in kernels]
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
    """Every launch of a capture, process by process, in its order.

    Raises:
        KprofError: as :func:`read`.
    """
    return (found for found in operations(path) if isinstance(found, CapturedLaunch))


def operations(path: str | Path) -> Iterator[CapturedLaunch | CapturedOperator]:
    """Every launch, and where they were recorded every call of torch's own operators, process by process, in order.

    Raises:
        KprofError: as :func:`read`.
    """
    for number, journal in enumerate(_journals(Path(path))):
        state = _Journal(journal, _Gathered())
        for record in state.records():
            found: CapturedLaunch | CapturedOperator | None = None
            if isinstance(record, r.LaunchRecord):
                found = state.launch(record, number)
            elif isinstance(record, r.OperatorCallRecord):
                found = state.operator(record, number)
            if found is not None:
                yield found


def _head(root: Path) -> r.Head:
    path = root / layout.HEAD
    if not root.is_dir():
        raise InputError("no such directory", path=str(root))
    try:
        data = plain_files.read_bytes(path, plain_files.HEAD_LIMIT)
    except FileNotFoundError:
        raise InputError(
            "this is no capture directory", path=str(root), hint=f"kprof capture writes {layout.HEAD} into one."
        ) from None
    try:
        return _HEAD.decode(data)
    except JSON_ERRORS as error:
        raise InputError(f"is no head of a capture: {error}", path=str(path)) from None


def _journals(root: Path) -> list[Path]:
    folder = root / layout.JOURNAL
    if not plain_files.plain_folder(folder):
        return []
    found = sorted(p for p in folder.iterdir() if p.suffix == ".jsonl" and not p.name.startswith("."))
    if len(found) > PROCESSES:
        raise InputError(f"{len(found):,} journals are more than a capture has", path=str(folder))
    return found


@dataclass
class _Specialisation:
    """A specialisation while journals are read."""

    record: r.KernelRecord
    launches: int = 0
    chosen: int = 0
    grids: Counter[Grid] = field(default_factory=Counter)
    arguments: dict[Grid, Mapping[str, Any]] = field(default_factory=dict)
    site: Sequence[Location] = ()
    configs: dict[str, None] = field(default_factory=dict)


@dataclass
class _Gathered:
    """What the journals say together."""

    kernels: dict[str, _Specialisation] = field(default_factory=dict)
    processes: list[Sequence[str]] = field(default_factory=list)
    tunings: list[CapturedTuning] = field(default_factory=list)
    reads: list[tuple[str, Sequence[Location]]] = field(default_factory=list)
    reads_count: int = 0
    unrun: dict[tuple[str, str], UnrunOperator] = field(default_factory=dict)
    ran: Counter[str] = field(default_factory=Counter)
    silent: Counter[str] = field(default_factory=Counter)
    torch: Counter[str] = field(default_factory=Counter)
    peaks: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    complete: bool = True
    executed: bool = False
    sources: list[r.Sources] = field(default_factory=list)


class _Journal:
    """One journal while it is read. Numbers in it mean something in it alone."""

    def __init__(self, path: Path, gathered: _Gathered) -> None:
        self.path = path
        self.gathered = gathered
        self.kernels: dict[int, str] = {}
        self.sites: dict[int, tuple[Location, ...]] = {}
        self.arguments: dict[int, Mapping[str, Any]] = {}
        self.tunings: dict[int, CapturedTuning] = {}
        self.unrun: dict[int, r.Unrun] = {}
        self.shapes: dict[int, CapturedOperator] = {}
        self.scopes: dict[int | None, ModelScope] = {}

    def records(self) -> Iterator[r.Record]:
        """The records of the journal; those that later ones refer to are kept on the way."""
        for number, line in plain_files.lines(self.path):
            try:
                record = _RECORD.decode(line)
            except JSON_ERRORS as error:
                if not line.endswith(b"\n"):
                    self.gathered.notes.append(f"{self.path.name} ends in the middle of a line: the recording was cut")
                    return
                raise InputError(
                    f"is no line of a journal: {error}", path=str(self.path), place=f"line {number}"
                ) from None
            match record:
                case r.KernelRecord():
                    self.kernels[record.n] = record.id
                case r.Site():
                    self.sites[record.n] = tuple(Location(f, max(line, 1), function=n) for f, line, n in record.frames)
                case r.Arguments():
                    self.arguments[record.n] = {name: argument(value) for name, value in record.args.items()}
                case r.OperatorShapes():
                    self.shapes[record.n] = CapturedOperator(
                        record.name,
                        tuple(map(argument, record.inputs)),
                        tuple(map(argument, record.outputs)),
                        from_host=record.host,
                    )
                case r.ScopeRecord():
                    self.scopes[record.n] = ModelScope(record.phase, record.module, record.range)
                case _:
                    pass
            yield record

    def all(self) -> None:
        """Read everything into what is gathered."""
        ended = False
        calls: dict[int, int] = {}
        try:
            for record in self.records():
                ended = ended or isinstance(record, r.End)
                calls.update(record.unrun if isinstance(record, r.OperatorsRecord) else ())
                self._take(record)
        except KprofError as error:
            self.gathered.notes.append(f"{error}; what follows is left out")
        for number, unrun in self.unrun.items():
            self._add(unrun, max(1, calls.get(number, 1)))
        if not ended:
            self.gathered.complete = False
            self.gathered.notes.append(f"{self.path.name} was not closed: the process was killed or still runs")

    def _take(self, record: r.Record) -> None:
        everything = self.gathered
        match record:
            case r.ProcessRecord():
                everything.processes.append(record.argv)
                everything.executed = everything.executed or record.executes
            case r.KernelRecord():
                everything.kernels.setdefault(record.id, _Specialisation(record))
            case r.LaunchRecord():
                self._count(record)
            case r.Tuning():
                self.tunings[record.n] = CapturedTuning(record.name, {}, {})
                everything.tunings.append(self.tunings[record.n])
            case r.CandidateRecord():
                self._candidate(record)
            case r.Read():
                everything.reads.append((record.what, self.sites.get(record.site or 0, ())))
            case r.Unrun():
                self.unrun[record.n] = record
            case r.OperatorsRecord():
                everything.ran.update(record.ran)
                everything.silent.update(record.silent)
                everything.torch.update(record.torch)
                everything.peaks += (most for most, _ in record.memory.values())
            case r.Sources():
                everything.sources.append(record)
            case r.Note():
                everything.notes.append(record.text)
            case r.End():
                everything.reads_count += record.reads
            case _:
                pass

    def _add(self, record: r.Unrun, calls: int) -> None:
        known = self.gathered.unrun.get((record.name, record.how))
        site = self.sites.get(-1 if record.site is None else record.site, ())
        self.gathered.unrun[record.name, record.how] = (
            UnrunOperator(record.name, record.how, calls, site)
            if known is None
            else dataclasses.replace(known, calls=known.calls + calls)
        )

    def _count(self, record: r.LaunchRecord) -> None:
        entry = self._entry(record.kernel)
        if entry is not None:
            if not entry.launches:
                entry.site = self.sites.get(-1 if record.site is None else record.site, ())
            entry.launches += 1
            entry.chosen += record.tuning is not None
            grid = tuple(record.grid)
            entry.grids[grid] += 1
            entry.arguments.setdefault(grid, self.arguments.get(-1 if record.args is None else record.args, {}))

    def _candidate(self, record: r.CandidateRecord) -> None:
        tuning = self.tunings.get(record.tuning)
        entry = None if record.kernel is None else self._entry(record.kernel)
        if entry is not None:
            entry.configs[record.config] = None
        if tuning is not None:
            candidates, errors = tuning.candidates, tuning.errors
            assert isinstance(candidates, dict)
            assert isinstance(errors, dict)
            candidates[record.config] = None if entry is None else entry.record.id
            if record.error:
                errors[record.config] = record.error

    def _entry(self, number: int) -> _Specialisation | None:
        identifier = self.kernels.get(number)
        return None if identifier is None else self.gathered.kernels.get(identifier)

    def launch(self, record: r.LaunchRecord, process: int) -> CapturedLaunch | None:
        """A launch with what it refers to; ``None`` when its kernel was never named."""
        kernel = self.kernels.get(record.kernel)
        if kernel is None:
            return None
        return CapturedLaunch(
            kernel=kernel,
            process=process,
            sequence=record.seq,
            grid=tuple(record.grid),
            stream=record.stream,
            site=self.sites.get(-1 if record.site is None else record.site, ()),
            arguments=self.arguments.get(-1 if record.args is None else record.args, {}),
            choice_unknown=record.tuning is not None,
            scope=self.scopes.get(record.scope),
        )

    def operator(self, record: r.OperatorCallRecord, process: int) -> CapturedOperator | None:
        """A call with its shapes; ``None`` when these were not recorded."""
        known = self.shapes.get(record.shapes)
        scope = self.scopes.get(record.scope)
        return known and dataclasses.replace(known, process=process, scope=scope, factor=record.factor)


def _kernel(
    root: Path, head: r.Head, entry: _Specialisation, unrecorded: str | None, notes: list[str], *, listed: int
) -> CapturedKernel:
    record = entry.record
    request = request_of(record, head.arch, notes)
    folder = root / layout.KERNELS / record.id
    return CapturedKernel(
        id=record.id,
        name=record.name,
        arch=request.arch,
        triton=record.triton,
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
    """The product of this name, where it has this architecture."""
    found = find_product(name)
    return found if found is not None and found.arch == arch else None


def _result(root: Path, folder: Path, notes: list[str]) -> r.CompileRecord | None:
    if not (plain_files.plain_folder(root / layout.KERNELS) and plain_files.plain_folder(folder)):
        return None
    try:
        return _RESULT.decode(plain_files.read_bytes(folder / layout.RESULT, plain_files.LINE_LIMIT))
    except FileNotFoundError:
        return None
    except (KprofError, *JSON_ERRORS) as error:
        notes.append(f"{folder.name}/{layout.RESULT} is damaged: {error}")
        return None
