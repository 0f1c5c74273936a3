"""Record the simulated wavefronts of one SIMD cycle by cycle, as a trace for Perfetto or chrome://tracing.

Nothing in the trace is measured. One nanosecond in the viewer is one cycle of the CU.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn import Instruction
from kprof_analyzers.model.kernel import build, simulate
from kprof_analyzers.model.program import BARRIER, BUSY, DELAY, LDS, MATRIX, VALU, VMEM, WAIT, WHICH, Op
from kprof_analyzers.model.runs import KernelModel
from kprof_analyzers.model.simulate import BEGIN, CAUSE_COUNT, CAUSES, END, SPLIT, Simulator

PIPES = ("matrix", "vector", "LDS (of the CU)", "vector cache (of the CU)", "memory (the CU's share)")
"""Units that a wavefront's operations occupy, by number."""
_PIPE_OF = {MATRIX: 0, VALU: 1, LDS: 2, VMEM: 3}
_MEMORY_PIPE = 4
_NEVER = float("inf")
_CLOCK_US = 1e-3


@dataclass(frozen=True)
class WavefrontStep:
    """One operation of one wavefront.

    Attributes:
        wave: number of the wavefront on its SIMD.
        kind: kind as in :mod:`kprof_analyzers.model.program`; ``None`` for time spent waiting at a barrier.
        position: position of the instruction in the program.
        start, end: start and end in cycles.
        cause: cause of most of the step's time.
    """

    wave: int
    kind: int | None
    position: int
    start: float
    end: float
    cause: str


@dataclass(frozen=True)
class Busy:
    """A stretch of cycles in which the instruction at ``position`` occupies the pipe with the number ``pipe``."""

    pipe: int
    position: int
    start: float
    end: float


@dataclass(frozen=True)
class LoopIteration:
    """One iteration of a wavefront through a loop: loop number, iteration number, and its cycles."""

    wave: int
    loop: int
    number: int
    start: float
    end: float


class TimelineRecorder(Simulator):
    """A simulator that records the operations of wavefronts and pipes."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Set up the simulator with the arguments of :class:`Simulator`."""
        super().__init__(*arguments, **named)
        self.steps: list[WavefrontStep] = []
        self.busy: list[Busy] = []
        self.passes: list[LoopIteration] = []
        self._last = list(self.begins)
        self._held = [0] * len(self.begins)
        self._begun: dict[tuple[int, int], tuple[float, int]] = {}

    def steppers(self) -> list[Callable[[int, Op, float, int], float]]:
        """Return the methods of :class:`Simulator`, wrapped so that they record each operation."""
        return [self._noting(kind, step) for kind, step in enumerate(super().steppers())]

    def _noting(
        self, kind: int, step: Callable[[int, Op, float, int], float]
    ) -> Callable[[int, Op, float, int], float]:
        def noted(wave: int, op: Op, now: float, where: int) -> float:
            position = where // CAUSE_COUNT
            if now > self._last[wave]:
                held = self._held[wave]
                self.steps.append(WavefrontStep(wave, None, held, self._last[wave], now, "barrier"))
            before = self.spent[where : where + CAUSE_COUNT]
            end = step(wave, op, now, where)
            self._held[wave] = position
            if end == _NEVER:
                self._last[wave] = now
                return end
            self._last[wave] = end
            if kind in {BEGIN, END}:
                self._iteration(kind, wave, int(op[BUSY]), now)
            elif end > now:
                after = self.spent[where : where + CAUSE_COUNT]
                grown = [b - a for a, b in zip(before, after, strict=True)]
                cause = CAUSES[grown.index(max(grown))]
                # A SPLIT is a barrier for one half of the wavefronts. It takes time only if the wavefront has to wait.
                self.steps.append(WavefrontStep(wave, BARRIER if kind == SPLIT else kind, position, now, end, cause))
                self._pipes(kind, op, position)
            return end

        return noted

    def _iteration(self, kind: int, wave: int, loop: int, now: float) -> None:
        number = 0
        if kind == END:
            start, number = self._begun[wave, loop]
            self.passes.append(LoopIteration(wave, loop, number, start, now))
            number += 1
        self._begun[wave, loop] = now, number

    def _pipes(self, kind: int, op: Op, position: int) -> None:
        pipe = _PIPE_OF.get(kind)
        if pipe is None:
            return
        end = (self.matrix_free, self.vector_free, self.lds_free, self.l1_free)[pipe]
        if op[BUSY]:
            self.busy.append(Busy(pipe, position, end - op[BUSY], end))
        if kind == VMEM:
            path = self.paths[op[WHICH]]
            served = self.memory_free[path.queue]
            length = op[DELAY] * path.cycles_per_byte
            if length:
                self.busy.append(Busy(_MEMORY_PIPE, position, served - length, served))


def record(model: KernelModel) -> TimelineRecorder:
    """Simulate one round of workgroups and return the recorder with its events."""
    kept: list[TimelineRecorder] = []

    def engine(*arguments: Any, **named: Any) -> TimelineRecorder:
        kept.append(TimelineRecorder(*arguments, **named))
        return kept[-1]

    simulate(model, model.where.resident, engine)
    return kept[0]


def is_wait(step: WavefrontStep) -> bool:
    """Return whether the step is only waiting: at a wait instruction or a barrier."""
    return step.kind in {None, WAIT, BARRIER}


def wave_timeline(kernels: Iterable[KernelFacts]) -> Iterator[str]:
    """Yield the JSON text of a trace in pieces: for each kernel the wavefronts of one SIMD and the pipes they use."""
    yield '{"displayTimeUnit": "ns", "traceEvents": [\n'
    first = True
    for number, facts in enumerate(kernels):
        model = build(facts)
        for event in _events(model, record(model), 2 * number + 1):
            yield ("" if first else ",\n") + json.dumps(event)
            first = False
    yield '\n], "otherData": {"unit": "1 ns is 1 cycle of the CU", "kind": "modelled, not measured"}}\n'


def _events(model: KernelModel, recorder: TimelineRecorder, process: int) -> Iterator[dict[str, Any]]:
    facts = model.facts
    title = f"{facts.name} {facts.arch.name}"
    which = "all SIMDs" if model.apart else f"one SIMD, {model.simds} alike"
    yield _named("process_name", process, 0, f"{title}: wavefronts of {which}")
    yield _named("process_name", process + 1, 0, f"{title}: pipes")
    for wave in range(len(recorder.at)):
        group, member = divmod(wave, recorder.waves)
        yield _named("thread_name", process, wave, f"workgroup {group} wavefront {member}")
    for pipe, name in enumerate(PIPES):
        yield _named("thread_name", process + 1, pipe, name)
    headers = {loop.index: loop.header for loop in facts.program.loops}
    for iteration in recorder.passes:
        name = f"{headers.get(iteration.loop, iteration.loop)} iteration {iteration.number}"
        yield _slice((process, iteration.wave), name, "loop", (iteration.start, iteration.end), {})
    instructions = facts.program.instructions
    for step in recorder.steps:
        instruction = instructions[step.position]
        waiting = is_wait(step)
        name = "barrier" if step.kind is None else instruction.opcode.name
        arguments = {"instruction": instruction.text.strip(), "cause": step.cause, "line": _source_line(instruction)}
        category = "wait" if waiting else "issue"
        yield _slice((process, step.wave), name, category, (step.start, step.end), arguments)
    for busy in recorder.busy:
        instruction = instructions[busy.position]
        arguments = {"line": _source_line(instruction)}
        track = (process + 1, busy.pipe)
        yield _slice(track, instruction.opcode.name, PIPES[busy.pipe], (busy.start, busy.end), arguments)


def _source_line(instruction: Instruction) -> str:
    frame = instruction.user_frame
    return "" if frame is None else f"{frame.file.rpartition('/')[2]}:{frame.line}"


def _named(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}


def _slice(
    track: tuple[int, int], name: str, category: str, when: tuple[float, float], arguments: dict[str, str]
) -> dict[str, Any]:
    (process, thread), (start, end) = track, when
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "pid": process,
        "tid": thread,
        "ts": round(start * _CLOCK_US, 4),
        "dur": round((end - start) * _CLOCK_US, 4),
        "args": arguments,
    }
