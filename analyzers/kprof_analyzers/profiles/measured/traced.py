"""Align a compiled kernel with a thread trace of it, and compare the time of its instructions and loops."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET

from kprof.errors import InputError
from kprof.measured import Key, LineComparison, LoopComparison, Match
from kprof_analyzers.profiles.measured.join import is_called

if TYPE_CHECKING:
    from kprof.document import KernelReport, LoopPrediction
    from kprof.inputs.amdgcn import AssemblyKernel, Instruction
    from kprof.inputs.amdgcn.flow import Loop
    from kprof.inputs.thread_trace import DecodedThreadTrace
    from kprof.inputs.thread_trace import TracedInstruction as Traced

_JUMPS = ("s_branch", "s_cbranch", "s_call", "s_getpc", "s_swappc", "s_setpc")
_PADDING = ("s_nop", "s_code_end")
_LINES = 12
# Maximum number of instruction kinds in the list of differing counts.
_KINDS = 6


@dataclass(frozen=True)
class Alignment:
    """Alignment of compiled and traced instructions.

    Attributes:
        traced: the traced instruction of each compiled instruction, up to the first difference.
        differs: first different pair, compiled and traced; ``None`` if all agree.
    """

    traced: "Sequence[Traced]"
    differs: tuple[str, str] | None


def align(program: "AssemblyKernel", trace: "DecodedThreadTrace") -> Alignment:
    """Align a trace's listing with the program, ignoring the assembler's padding and the targets of jumps."""
    listed = [one for one in trace.instructions if not one.text.startswith(";")]
    found: list[Traced] = []
    at = 0
    for instruction in program.instructions:
        mine = _comparable_parts(instruction.text)
        while at < len(listed) and _comparable_parts(listed[at].text) != mine and _is_padding(listed[at]):
            at += 1
        if at == len(listed):
            return Alignment(found, (instruction.text, "nothing more"))
        if _comparable_parts(listed[at].text) != mine:
            return Alignment(found, (instruction.text, listed[at].text))
        found.append(listed[at])
        at += 1
    rest = next((one.text for one in listed[at:] if not _is_padding(one)), None)
    return Alignment(found, None if rest is None else ("nothing more", rest))


def in_thread_trace(name: str, program: "AssemblyKernel", trace: "DecodedThreadTrace") -> tuple[Match, Alignment]:
    """Return the match of a kernel with a thread trace, and the alignment of their instructions.

    The match is sure if all instructions are equal.

    Args:
        name: name of the kernel.
        program: the kernel's instructions.
        trace: thread trace of the dispatch.

    Raises:
        InputError: if another kernel was traced.
    """
    if trace.kernel is not None and not is_called(trace.kernel, program.name):
        hint = "Name the folder of its dispatch: kprof ingest thread-trace lists them."
        raise InputError(f"the thread trace is of {trace.kernel}, not of {name}", path=trace.path, hint=hint)
    found = align(program, trace)
    keys = [Key("name", program.name, trace.kernel, agrees=True)] if trace.kernel is not None else []
    if found.differs is None:
        count = len(program.instructions)
        keys.append(Key("instructions", count, count, agrees=True))
    else:
        mine, theirs = found.differs
        keys.append(Key(f"instruction {len(found.traced) + 1}", mine, theirs, agrees=False))
        keys += _other_counts(program, trace)
    sure = found.differs is None and len(program.instructions) > 0
    shown = trace.kernel or program.name
    return Match("thread trace", shown, keys, "sure" if sure else "doubtful", 1), found


def _other_counts(program: "AssemblyKernel", trace: "DecodedThreadTrace") -> list[Key]:
    """Return the kinds of instructions with the largest difference in number between the program and the trace."""
    mine = Counter(_comparable_parts(one.text)[0] for one in program.instructions)
    theirs = Counter(
        _comparable_parts(one.text)[0] for one in trace.instructions if not one.text.startswith((";", *_PADDING))
    )
    kinds = [one for one in {**mine, **theirs} if mine[one] != theirs[one] and one not in _PADDING]
    kinds.sort(key=lambda one: (-abs(mine[one] - theirs[one]), one))
    return [Key(f"count of {one}", mine[one], theirs[one], agrees=False) for one in kinds[:_KINDS]]


def traced_shares(program: "AssemblyKernel", trace: "DecodedThreadTrace") -> list[float]:
    """Return each instruction's share of the traced wavefronts' time: latency, and idle cycles if recorded.

    Raises:
        InputError: if another program was traced, or the trace contains no wavefronts of the program.
    """
    match, found = in_thread_trace(program.name, program, trace)
    if match.confidence != "sure":
        words = "; ".join(f"{key.name}: {key.computed}, traced {key.measured}" for key in match.keys if not key.agrees)
        raise InputError(f"the thread trace is of other instructions: {words}", path=trace.path)
    cycles = [one.latency + (one.idle or 0) for one in found.traced]
    whole = sum(cycles)
    if not whole:
        raise InputError("the thread trace has no time in this kernel", path=trace.path)
    return [each / whole for each in cycles]


def loop_comparisons(report: "KernelReport", program: "AssemblyKernel", found: Alignment) -> list[LoopComparison]:
    """Compare each traced loop with the model. A loop's cycles are without those of its inner loops.

    The cycles of an iteration are the sum of its instructions' latencies, divided by the number of times that the first
    instruction of the header was issued. Idle cycles of a wavefront are included if the trace records them.
    """
    predictions = {} if report.model is UNSET else {loop.header: loop for loop in report.model.loops}
    loops = []
    for loop in program.loops:
        first = program.blocks[loop.header_block].start
        iterations = found.traced[first].hits
        if iterations:
            loops.append(_loop(program, loop, found.traced, iterations, predictions.get(loop.header)))
    return loops


def _loop(
    program: "AssemblyKernel",
    loop: "Loop",
    traced: "Sequence[Traced]",
    iterations: int,
    prediction: "LoopPrediction | None",
) -> LoopComparison:
    inner = {index for other in program.loops if other.parent == loop.index for index in other.instructions}
    own = [index for index in loop.instructions if index not in inner]
    by_line: dict[str, float] = defaultdict(float)
    stalls: dict[str, float] = defaultdict(float)
    for index in own:
        place = _source_line(program.instructions[index])
        by_line[place] += (traced[index].latency + (traced[index].idle or 0)) / iterations
        stalls[place] += (traced[index].stall or 0) / iterations
    has_stalls = any(traced[index].stall is not None for index in own)
    modelled = prediction.by_line if prediction is not None else {}
    places = sorted({*by_line, *modelled}, key=lambda place: -by_line.get(place, 0.0))
    return LoopComparison(
        header=loop.header,
        lines={} if prediction is None else prediction.lines,
        iterations=iterations,
        measured=sum(by_line.values()),
        stalled=sum(stalls.values()) if has_stalls else None,
        modelled=None if prediction is None else prediction.cycles_per_iteration,
        by_line=[
            LineComparison(place, by_line.get(place, 0.0), stalls[place] if has_stalls else None, modelled.get(place))
            for place in places[:_LINES]
        ],
    )


def _source_line(instruction: "Instruction") -> str:
    """Return the source line of an instruction, written as in the model's results."""
    frame = instruction.user_frame
    return "?" if frame is None else f"{frame.file.rpartition('/')[2]}:{frame.line}"


def _is_padding(one: "Traced") -> bool:
    return not one.hits and one.text.startswith(_PADDING)


def _comparable_parts(text: str) -> tuple[str, ...]:
    """Return the parts of an instruction's text that are the same in assembler and disassembler output."""
    name, _, operands = text.strip().partition(" ")
    if name.startswith(_JUMPS) or "@" in operands:
        return (name,)
    return (name, *(part.strip() for part in operands.replace(",", " ").split()))
