"""Listings of compiler stages: each line with the source lines that it comes from."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.errors import TargetError, near

if TYPE_CHECKING:
    from kprof.targets.loaded import LoadedKernel
    from kprof_analyzers.details.listing import SourceText
    from kprof_analyzers.source_lines import Frame

STAGES: Mapping[str, str] = {
    "python": "python",
    "ttir": "mlir",
    "ttgir": "mlir",
    "llir": "llvm",
    "amdgcn": "amdgpu",
}
"""Stages in order of compilation, with the language for syntax highlighting."""

MOST_LINES = 60_000


@dataclass(frozen=True)
class ListedLine:
    """A line of a listing: ``places`` are ``[file, line]`` of the source, innermost first.

    ``share`` is the line's share of the predicted time, 0 to 1; ``measured`` is its share of a thread trace's time.
    For an instruction, ``kind`` is its class, ``words`` a description, and ``live`` the number of live VGPRs.
    """

    number: int | None
    text: str
    places: list[tuple[int, int]] = field(default_factory=list)
    share: float | None = None
    kind: str = ""
    words: str = ""
    live: int | None = None
    measured: float | None = None


@dataclass(frozen=True)
class StageListing:
    """A listing of a stage. ``stages`` are the kernel's stages; the files in ``places`` are indices into ``files``.

    ``lines`` are ``[number, pieces, places, share, kind, words, live, measured]``, where ``pieces`` are ``[class,
    text]``; ``notes`` are sentences on what is not shown.
    """

    kernel: str
    stage: str
    stages: list[str]
    files: list[str]
    lines: list[list[Any]]
    notes: list[str]


def listing(target: str, stage: str, kernel: int = 0, thread_trace: str | None = None, **options: Any) -> StageListing:
    """Return the highlighted listing of one stage of one kernel.

    Args:
        target: as for :func:`kprof.analyze`.
        stage: a key of :data:`STAGES`.
        kernel: position among the target's kernels.
        thread_trace: a decoded thread trace of the kernel, whose time is shown next to the modelled one.
        options: compile options, as for :func:`kprof.analyze`.

    Raises:
        TargetError: the stage or the kernel does not exist.
        KprofError: as :func:`kprof.analyze`.
    """
    from kprof.reporters.html.highlight import pieces

    if stage not in STAGES:
        raise TargetError(f"no stage {stage!r}{near(stage, STAGES)}", hint=f"there are {', '.join(STAGES)}")
    found = kernel_of(target, kernel, **options)
    builder = _Builder(found, target, thread_trace)
    lines = list(builder.lines(stage))
    notes = [*builder.notes, *found.notes]
    if len(lines) > MOST_LINES:
        notes.append(f"{len(lines) - MOST_LINES:,} more lines are not shown")
    shown = lines[:MOST_LINES]
    coloured = pieces([line.text for line in shown], STAGES[stage])
    return StageListing(
        found.name,
        stage,
        [name for name in STAGES if builder.has(name)],
        list(builder.files),
        [
            [line.number, parts, line.places, line.share, line.kind, line.words, line.live, line.measured]
            for line, parts in zip(shown, coloured, strict=True)
        ],
        notes,
    )


def kernel_of(target: str, kernel: int, **options: Any) -> "LoadedKernel":
    """Load one kernel of a target; for the arguments see :func:`listing`.

    Raises:
        TargetError: the kernel does not exist.
        KprofError: as :func:`kprof.analyze`.
    """
    from kprof.options.groups import CompileOptions
    from kprof.targets.resolver import load
    from kprof_analyzers.autotuned import in_chosen_configuration

    found = next((one for number, one in enumerate(load(target, CompileOptions(**options))) if number == kernel), None)
    if found is None:
        raise TargetError(f"there is no kernel {kernel + 1}", path=target)
    return in_chosen_configuration(found)


class _Builder:
    """Creates the lines of a kernel's stages, and numbers their source files."""

    def __init__(self, kernel: "LoadedKernel", target: str, thread_trace: str | None) -> None:
        self._kernel, self._target, self._thread_trace = kernel, target, thread_trace
        self._shares: Sequence[Mapping[str, float]] | None = None
        self.files: dict[str, int] = {}
        self.notes: list[str] = []

    def has(self, stage: str) -> bool:
        if stage in {"python", "amdgcn"}:
            return bool(self._kernel.program.instructions) or self._kernel.source is not None
        return isinstance(self._kernel.stages.get(stage), str)

    def lines(self, stage: str) -> Iterator[ListedLine]:
        if not self.has(stage):
            self.notes.append(f"this target has no {stage}")
            return iter(())
        if stage == "python":
            return self._source()
        if stage == "amdgcn":
            return self._instructions()
        text = str(self._kernel.stages[stage]).split("\n")
        return self._llvm(text) if stage == "llir" else self._mlir(text)

    def _places(self, frames: "Iterable[Frame]") -> list[tuple[int, int]]:
        """Return the source lines in the user's files; if there are none, a line in Triton's library."""
        known = [frame for frame in frames if frame.line]
        own = [frame for frame in known if not frame.in_library]
        return [(self.files.setdefault(one.file, len(self.files)), one.line) for one in own or known[:1]]

    def _mlir(self, text: Sequence[str]) -> Iterator[ListedLine]:
        from kprof.inputs.mlir import parse
        from kprof.inputs.mlir.text import without_location

        places: dict[int, list[tuple[int, int]]] = {}
        for operation in parse("\n".join(text)).operations:
            places.setdefault(operation.line, self._places(operation.location))
        for number, line in enumerate(text, 1):
            if not line.startswith("#loc"):
                yield ListedLine(number, without_location(line), places.get(number, []))
        self.notes.append("source positions, loc(...), are not shown")

    def _llvm(self, text: Sequence[str]) -> Iterator[ListedLine]:
        from kprof.inputs.llvm_ir import positions, without_positions

        for number, (line, frames) in enumerate(zip(text, positions(text), strict=True), 1):
            if not line.startswith("!"):
                yield ListedLine(number, without_positions(line), self._places(frames))
        self.notes.append("metadata, !dbg and the like, is not shown")

    def _instructions(self) -> Iterator[ListedLine]:
        from kprof_analyzers.details.instruction_words import instruction_words, live_registers
        from kprof_analyzers.pipeline import facts_of

        program, shares, traced = self._kernel.program, self._time_shares(), self._traced_shares()
        facts = facts_of(self._kernel)[0]
        words, live = instruction_words(facts), live_registers(facts)
        for block in program.blocks:
            if block.label:
                yield ListedLine(None, f"{block.label}:")
            for one in program.instructions[block.start : block.end]:
                comment = f"  ; {one.comment.strip()}" if one.comment.strip() else ""
                share = None if shares is None else sum(shares[one.index].values())
                text, kind = f"    {one.text.strip()}{comment}", one.opcode.cls.value
                places, at = self._places(one.location), one.index
                measured = None if traced is None else traced[at]
                yield ListedLine(one.line, text, places, share, kind, words[at], live[at], measured)
        if self._kernel.unseen is not None:
            self.notes.append(self._kernel.unseen)

    def _source(self) -> Iterator[ListedLine]:
        """Yield all lines of each user file that instructions come from; the file that defines the kernel is first."""
        shares, traced = self._time_shares(), self._traced_shares()
        spent: dict[tuple[str, int], float] = {}
        measured: dict[tuple[str, int], float] = {}
        count: Counter[str] = Counter()
        if self._kernel.source is not None:
            count[self._kernel.source.file] = len(self._kernel.program.instructions)
        for one in self._kernel.program.instructions:
            for frame in [frame for frame in one.location if frame.line and not frame.in_library][:1]:
                count[frame.file] += 1
                here = frame.file, frame.line
                if shares is not None:
                    spent[here] = spent.get(here, 0.0) + sum(shares[one.index].values())
                if traced is not None:
                    measured[here] = measured.get(here, 0.0) + traced[one.index]
        sources = self._source_text()
        for path, _ in count.most_common():
            number = self.files.setdefault(path, len(self.files))
            text = sources.lines(path)
            if len(count) > 1:
                yield ListedLine(None, f"# {path}")
            if isinstance(text, str):
                self.notes.append(f"{path}: {text}")
                continue
            for line, words in enumerate(text, 1):
                here = path, line
                yield ListedLine(line, words, [(number, line)], spent.get(here), measured=measured.get(here))

    def _source_text(self) -> "SourceText":
        from kprof.targets.target import TargetKind, resolve
        from kprof_analyzers.details.listing import SourceText

        found = resolve(self._target)
        if found.kind is TargetKind.SOURCE:
            return SourceText(trusted=True)
        return SourceText((Path.cwd(), found.path.parent if found.path.is_file() else found.path))

    def _traced_shares(self) -> Sequence[float] | None:
        """Return each instruction's share of the traced time, or ``None`` without a usable trace of this kernel."""
        if self._thread_trace is None:
            return None
        from kprof.errors import InputError
        from kprof.inputs import thread_trace
        from kprof_analyzers.profiles.measured.traced import traced_shares

        try:
            return traced_shares(self._kernel.program, thread_trace.read(self._thread_trace))
        except InputError as error:
            self.notes.append(f"no measured time: {error.message}")
            return None

    def _time_shares(self) -> Sequence[Mapping[str, float]] | None:
        """Return each instruction's share of the predicted time; if that fails, add a note and return ``None``."""
        from kprof_analyzers.details.listing import time_shares
        from kprof_analyzers.pipeline import facts_of

        try:
            return time_shares(facts_of(self._kernel)[0])
        except Exception as error:  # noqa: BLE001 - a listing without shares is better than none
            self.notes.append(f"the time of each line is not known: {type(error).__name__}: {error}")
            return None
