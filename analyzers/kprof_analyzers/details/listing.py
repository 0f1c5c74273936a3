"""List source lines with their cost, and the instructions that were compiled from them.

Assembly and cache entries may come from strangers, and could name any file as their source. Its text would then be part
of an HTML page that the user may give to others. Therefore files are read only below the folders that the user named,
and only if they look like source code.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from kprof.analysis import KernelFacts
from kprof.details import CodeBlock, CodeLine, SourceFile, SourceLine
from kprof.errors import InputError
from kprof.inputs import boundary
from kprof.inputs.amdgcn import AssemblyKernel, InstructionClass
from kprof_analyzers.memory.lds_access import lds_accesses, transposed_lines
from kprof_analyzers.model.kernel import build, simulate
from kprof_analyzers.model.outline import LoopNode, Node
from kprof_analyzers.model.runs import KernelModel, Run
from kprof_analyzers.model.simulate import CAUSE_COUNT, CAUSES
from kprof_analyzers.source_lines import location_of

_SUFFIXES = frozenset({".py", ".hip", ".cpp", ".cc", ".cxx", ".cu", ".cl", ".c", ".h", ".hpp", ".cuh", ".inc"})
_MAX_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class SourceText:
    """Decides which source files may be read, and reads them.

    Attributes:
        folders: folders below which sources are read.
        trusted: whether any path may be read, because the kernel was compiled here from the user's own files.
    """

    folders: Sequence[Path] = ()
    trusted: bool = False
    _read: dict[str, "list[str] | str"] = field(default_factory=dict, repr=False, compare=False)

    def lines(self, path: str) -> list[str] | str:
        """Return the lines of a file, or the reason why they are not shown."""
        if path not in self._read:
            self._read[path] = self._lines(path)
        return self._read[path]

    def _lines(self, path: str) -> list[str] | str:
        if PurePosixPath(path.replace("\\", "/")).suffix not in _SUFFIXES:
            return "not a source file, judging by its name"
        found = self._find(path)
        if found is None:
            return "not found below the folders of --source"
        try:
            # Split at newlines only, as compilers do. splitlines() would also split at form feeds and similar.
            text = boundary.read_bytes(found, most=_MAX_BYTES).decode("utf-8", errors="replace")
        except InputError as error:
            return error.message
        return text.replace("\r\n", "\n").split("\n")

    def _find(self, path: str) -> Path | None:
        """Return the recorded file, or a file below one of the folders with the same last path components.

        The recorded path may be that of another machine, on which the kernel was compiled.
        """
        try:
            here = Path(path)
            if self.trusted and here.is_file():
                return here
            # The root of the file system is never a source folder, because all files are below it.
            roots = [root for root in (folder.resolve() for folder in self.folders) if root != root.parent]
            parts = [part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in {"/", ".", ".."}]
            for root in roots:
                direct = [here] if here.is_absolute() else []
                tails = (root.joinpath(*parts[start:]) for start in range(len(parts)))
                for candidate in (*direct, *tails):
                    if candidate.is_file() and candidate.resolve().is_relative_to(root):
                        return candidate
        except (OSError, ValueError, RuntimeError):
            # The recorded path may contain zero bytes, be too long, or lead into a cycle of links.
            return None
        return None


_AROUND = 3
_GAP = 10

Place = tuple[str, int]


def source_beside_code(
    facts: KernelFacts, shares: Sequence[Mapping[str, float]] | None, sources: SourceText
) -> tuple[list[SourceFile], list[CodeBlock]]:
    """Return a kernel's source files with the cost of each line, and its blocks with each instruction's source line.

    Args:
        facts: the kernel.
        shares: share of the time by cause, for each instruction; ``None`` if the kernel was not modelled.
        sources: which files may be read.
    """
    places = [_source_place(facts.program, position) for position in range(len(facts.program.instructions))]
    counts = Counter(place[0] for place in places if place is not None)
    order = {path: number for number, (path, _) in enumerate(sorted(counts.items(), key=lambda c: (-c[1], c[0])))}
    lines = _cost(facts, places, shares)
    files = [_file(path, {p[1]: line for p, line in lines.items() if p[0] == path}, sources) for path in order]
    return files, _blocks(facts.program, places, order, shares)


def _source_place(program: AssemblyKernel, position: int) -> Place | None:
    frame = program.instructions[position].user_frame
    return None if frame is None else (frame.file, frame.line)


def _cost(
    facts: KernelFacts, places: Sequence[Place | None], shares: Sequence[Mapping[str, float]] | None
) -> dict[Place, SourceLine]:
    instructions: Counter[Place] = Counter()
    spills: Counter[Place] = Counter()
    causes: dict[Place, dict[str, float]] = defaultdict(dict)
    for position, place in enumerate(places):
        if place is None:
            continue
        instructions[place] += 1
        spills[place] += facts.program.instructions[position].opcode.cls is InstructionClass.SCRATCH
        for cause, share in shares[position].items() if shares is not None else ():
            causes[place][cause] = causes[place].get(cause, 0.0) + share
    conflicts = _conflicts(facts)
    return {
        place: SourceLine(
            number=place[1],
            text=None,
            instructions=count,
            share=None if shares is None else sum(causes[place].values()),
            causes=dict(sorted(causes[place].items(), key=lambda item: (-item[1], item[0]))),
            spills=spills[place],
            conflicts=conflicts.get(place, 0),
        )
        for place, count in instructions.items()
    }


def _conflicts(facts: KernelFacts) -> dict[Place, int | None]:
    """Return the LDS conflict cycles of each source line in one loop iteration; ``None`` if its conflicts are unknown.

    If several loops contain the line, the loop with the most conflict cycles counts.
    """
    if facts.ttgir is None:
        return {}
    found: dict[Place, dict[int | None, int]] = defaultdict(lambda: defaultdict(int))
    unknown: set[Place] = set(transposed_lines(facts.program))
    for access in lds_accesses(facts.ttgir, facts.arch):
        place = location_of(access.operation)[0]
        if place is None:
            continue
        here = (place.file, place.line)
        if access.cost is None:
            unknown.add(here)
        else:
            found[here][access.operation.loop] += access.cost.conflicts
    known: dict[Place, int | None] = {place: max(loops.values()) for place, loops in found.items()}
    # If only some accesses of a line have unknown conflicts, the known conflict cycles of the others are used.
    return {**dict.fromkeys(unknown), **{place: cycles for place, cycles in known.items() if cycles}}


def _file(path: str, costs: Mapping[int, SourceLine], sources: SourceText) -> SourceFile:
    """Return a file's lines from which instructions were compiled, with context lines if the text is available."""
    text = sources.lines(path)
    if isinstance(text, str):
        return SourceFile(path, [costs[number] for number in sorted(costs)], hidden=text)
    shown: set[int] = set()
    before: int | None = None
    for number in sorted(costs):
        shown.update(range(max(1, number - _AROUND), min(len(text), number + _AROUND) + 1))
        if before is not None and number - before <= _GAP:
            shown.update(range(before, number))
        before = number
        shown.add(number)
    lines = []
    for number in sorted(shown):
        words = text[number - 1] if number <= len(text) else ""
        cost = costs.get(number)
        lines.append(SourceLine(number, words) if cost is None else _with_text(cost, words))
    return SourceFile(path, lines)


def _with_text(line: SourceLine, text: str) -> SourceLine:
    return SourceLine(line.number, text, line.instructions, line.share, line.causes, line.spills, line.conflicts)


def _blocks(
    program: AssemblyKernel,
    places: Sequence[Place | None],
    order: Mapping[str, int],
    shares: Sequence[Mapping[str, float]] | None,
) -> list[CodeBlock]:
    inside: dict[int, tuple[int, str]] = {}
    for loop in program.loops:
        for number in loop.blocks:
            inside[number] = max(inside.get(number, (0, "")), (loop.depth, loop.header))
    found = []
    for block in program.blocks:
        depth, header = inside.get(block.index, (0, ""))
        code = []
        for position in range(block.start, block.end):
            instruction, place = program.instructions[position], places[position]
            share = sum(shares[position].values()) if shares is not None else 0.0
            where = None if place is None else (order[place[0]], place[1])
            kind, comment = instruction.opcode.cls.value, instruction.spill or ""
            code.append(CodeLine(instruction.text, kind, where, share, comment, position))
        found.append(CodeBlock(block.label or "", header, depth, code))
    return found


def time_shares(facts: KernelFacts) -> list[Mapping[str, float]]:
    """Return each instruction's share of the time of all wavefronts, by cause; the sum of all shares is 1.

    The simulation runs a few iterations of each loop, and their cost is scaled to all iterations of the launch.
    Instructions that are not on the longest path through the program have no share.
    """
    model = build(facts)
    run = simulate(model, model.where.resident)
    spent = run.result.spent
    shares: list[dict[str, float]] = [{} for _ in facts.program.instructions]
    for part, factor in _stretches(model, run, model.nodes, 1.0):
        for position in part:
            cycles = spent[CAUSE_COUNT * position : CAUSE_COUNT * (position + 1)]
            shares[position] = {cause: factor * value for cause, value in zip(CAUSES, cycles, strict=True) if value > 0}
    whole = sum(sum(causes.values()) for causes in shares) or 1.0
    return [{cause: value / whole for cause, value in causes.items()} for causes in shares]


def _stretches(model: KernelModel, run: Run, nodes: Sequence[Node], factor: float) -> Iterator[tuple[range, float]]:
    """Yield straight-line stretches with the factor that scales the simulated executions to the whole launch."""
    for node in nodes:
        if not isinstance(node, LoopNode):
            yield node, factor
        elif done := run.iterations[node.loop.index]:
            yield from _stretches(model, run, node.body, factor * model.trips[node.loop.index].mean / done)
