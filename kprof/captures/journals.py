"""Read the journals of a capture, one per process. Records refer to each other by numbers unique in their journal."""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from kprof.captures import records as r
from kprof.captures.arguments import argument
from kprof.captures.model import (
    CapturedLaunch,
    CapturedOperator,
    CapturedTuning,
    Grid,
    ModelScope,
    TriedLaunch,
    UnrunOperator,
)
from kprof.errors import InputError, KprofError
from kprof.findings import Location
from kprof.inputs import plain_files
from kprof.inputs.boundary import JSON_ERRORS, refuse_repeated_keys

_RECORD: msgspec.json.Decoder[r.Record] = msgspec.json.Decoder(r.Record)


@dataclass
class Specialisation:
    """A kernel specialisation with its launches in all journals, counted and grouped by grid."""

    record: r.KernelRecord
    launches: int = 0
    chosen: int = 0
    grids: Counter[Grid] = field(default_factory=Counter)
    arguments: dict[Grid, Mapping[str, Any]] = field(default_factory=dict)
    tunings: dict[Grid, CapturedTuning | None] = field(default_factory=dict)
    site: Sequence[Location] = ()
    configs: dict[str, None] = field(default_factory=dict)

    @property
    def tuning(self) -> CapturedTuning | None:
        """Tuning of the first launch with the most frequent grid."""
        return self.tunings[self.grids.most_common(1)[0][0]] if self.grids else None


@dataclass
class Gathered:
    """Data collected from all journals of a capture."""

    kernels: dict[str, Specialisation] = field(default_factory=dict)
    processes: list[Sequence[str]] = field(default_factory=list)
    tunings: list[CapturedTuning] = field(default_factory=list)
    reads: list[tuple[str, Sequence[Location]]] = field(default_factory=list)
    reads_count: int = 0
    unrun: dict[tuple[str, str], UnrunOperator] = field(default_factory=dict)
    ran: Counter[str] = field(default_factory=Counter)
    silent: Counter[str] = field(default_factory=Counter)
    torch: Counter[str] = field(default_factory=Counter)
    peaks: list[int] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    complete: bool = True
    executed: bool = False
    sources: list[r.Sources] = field(default_factory=list)


class JournalReader:
    """Reader of one journal, which resolves the numbers by which its records refer to each other."""

    def __init__(self, path: Path, gathered: Gathered) -> None:
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
        """Yield the records of the journal in order, and store each record that later records refer to by number."""
        for number, line in plain_files.lines(self.path):
            try:
                record = _RECORD.decode(line)
                refuse_repeated_keys(line, str(self.path), f"line {number} is not a line of a journal")
            except (ValueError, *JSON_ERRORS) as error:
                if not line.endswith(b"\n"):
                    self.gathered.notes.append(f"{self.path.name} ends in the middle of a line: the recording was cut")
                    return
                raise InputError(
                    f"is not a line of a journal: {error}", path=str(self.path), place=f"line {number}"
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
                        to_host=record.to_host,
                    )
                case r.ScopeRecord():
                    place = None if record.place is None else Location(record.place[0], max(record.place[1], 1))
                    self.scopes[record.n] = ModelScope(
                        record.phase, record.module, record.range, place, record.compiled
                    )
                case r.Tuning():
                    first = None if record.again is None else self.tunings.get(record.again)
                    self.tunings[record.n] = CapturedTuning(record.name, {}, {}, {}, first)
                case r.CandidateRecord():
                    self._store_trial(record)
                case _:
                    pass
            yield record

    def _store_trial(self, record: r.CandidateRecord) -> None:
        """Store the launch that the program would make with one configuration of an autotuner, if it was recorded."""
        tuning, kernel = (
            self.tunings.get(record.tuning),
            self.kernels.get(-1 if record.kernel is None else record.kernel),
        )
        if tuning is None or kernel is None or record.grid is None:
            return
        launches = tuning.launches
        assert isinstance(launches, dict)
        arguments = self.arguments.get(-1 if record.args is None else record.args, {})
        launches[record.config] = TriedLaunch(kernel, tuple(record.grid), arguments)

    def all(self) -> None:
        """Read the whole journal and add its content to ``gathered``."""
        ended = False
        calls: dict[int, int] = {}
        try:
            for record in self.records():
                ended = ended or isinstance(record, r.End)
                calls.update(record.unrun if isinstance(record, r.OperatorsRecord) else ())
                self._take(record)
        except KprofError as error:
            self.gathered.notes.append(f"{error}; the rest of the journal is ignored")
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
                everything.kernels.setdefault(record.id, Specialisation(record))
            case r.LaunchRecord():
                self._count(record)
            case r.Tuning():
                if record.again is None:
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
            case r.LeftOutRecord():
                everything.left_out[record.language, record.reason] += record.launches
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
            entry.tunings.setdefault(grid, None if record.tuning is None else self.tunings.get(record.tuning))

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

    def _entry(self, number: int) -> Specialisation | None:
        identifier = self.kernels.get(number)
        return None if identifier is None else self.gathered.kernels.get(identifier)

    def made(self, record: r.Record, process: int) -> CapturedLaunch | CapturedOperator | None:
        """Return the launch or the operator call that a record describes, or ``None`` for a record of another type."""
        match record:
            case r.LaunchRecord():
                return self.launch(record, process)
            case r.OperatorCallRecord():
                return self.operator(record, process)
            case _:
                return None

    def launch(self, record: r.LaunchRecord, process: int) -> CapturedLaunch | None:
        """Return a launch with the arguments, site and tuning that it refers to; ``None`` if its kernel is missing."""
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
            tuning=None if record.tuning is None else self.tunings.get(record.tuning, CapturedTuning("", {}, {})),
            scope=self.scopes.get(record.scope),
        )

    def operator(self, record: r.OperatorCallRecord, process: int) -> CapturedOperator | None:
        """Return an operator call with its shapes; ``None`` if the shapes were not recorded."""
        known = self.shapes.get(record.shapes)
        scope = self.scopes.get(record.scope)
        return known and dataclasses.replace(known, process=process, scope=scope, factor=record.factor)
