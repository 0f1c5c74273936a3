"""Compare the simulator with a thread trace: one iteration of the traced loop, instruction by instruction.

The loop of a decoded thread trace (``code.json``) is simulated unchanged, with the wavefronts of one workgroup on a
CU. Its cycles are compared with the traced ones, which are means over all executions by the traced wavefronts.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from kprof.analysis import KernelFacts
from kprof.document import Resources
from kprof.hardware.machine import find_product, load
from kprof.inputs import amdgcn
from kprof.inputs.thread_trace import TracedInstruction, read
from kprof_analyzers.model import Effects
from kprof_analyzers.model.kernel import build, simulate
from kprof_analyzers.model.outline import loops_of
from kprof_analyzers.model.runs import KernelModel
from kprof_analyzers.model.simulate import CAUSE_COUNT
from kprof_analyzers.model.wave_timeline import record
from validation.benchmarks.model import metrics
from validation.benchmarks.model.layout import aligned, markdown

_AT_ONCE = 40
"""A wait that comes more than this number of cycles after the last ds_read counts as a later one."""
SAMPLE = Path(__file__).parents[4] / "shared/samples/att/rocprofv3_triton_gemm_afp4"


@dataclass(frozen=True)
class Comparison:
    """Traced and simulated cycles of one iteration.

    Attributes:
        traced: traced cycles of an iteration, summed over its instructions.
        simulated: simulated cycles of an iteration.
        kinds: traced and simulated cycles per iteration for each kind of instruction.
        rhythm: 10th percentile, median and 90th percentile of each measure, traced and simulated.
    """

    traced: float
    simulated: float
    kinds: dict[str, tuple[float, float]]
    rhythm: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]]


def loop_of(instructions: tuple[TracedInstruction, ...]) -> list[TracedInstruction]:
    """Return the longest run of instructions with the most frequent number of executions."""
    hits, _ = max(Counter(i.hits for i in instructions if i.hits > 1).items(), key=lambda item: item[0] * item[1])
    return [i for i in instructions if i.hits == hits]


def program_of(instructions: tuple[TracedInstruction, ...], arch: str) -> amdgcn.AssemblyKernel:
    """Return the listing as a program: branches get labels again; instructions without executions are left out."""
    issued = [i for i in instructions if i.hits]
    at = {i.address: place for place, i in enumerate(issued)}
    texts = [i.text for i in issued]
    targets = set()
    for place, one in enumerate(issued):
        name, _, offset = one.text.partition(" ")
        if not name.startswith(("s_branch", "s_cbranch")) or one.address is None or not offset.strip().isdecimal():
            continue
        words = int(offset) - (1 << 16 if int(offset) >= 1 << 15 else 0)
        target = at.get(one.address + 4 + 4 * words)
        texts[place] = "s_nop 0" if target is None else f"{name} .LBB0_{target}"
        targets |= set() if target is None else {target}
    lines = [line for n, t in enumerate(texts) for line in ([f".LBB0_{n}:"] if n in targets else []) + [f"\t{t}"]]
    head = f'\t.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\ntraced:\n'
    return amdgcn.parse(head + "\n".join(lines) + "\n.Lfunc_end0:\n").functions[0]


@dataclass(frozen=True)
class Event:
    """One instruction of one wavefront: its mnemonic, its operands, and the cycles at which it began and ended."""

    name: str
    operands: str
    start: float
    end: float


def traced_waves(folder: Path, loop: Sequence[TracedInstruction]) -> list[list[Event]]:
    """Return the events inside a loop of the wavefronts that have their own file."""
    texts = {one.line: one.text for one in loop if one.line is not None}
    found = []
    for place in sorted(folder.rglob("se*_wv*.json")):
        records = json.loads(place.read_text(encoding="utf-8"))["wave"]["instructions"]
        found.append(
            [
                Event(*_halves(texts[line]), clock, clock + cycles)
                for clock, _, _, cycles, line, *_ in records
                if line in texts
            ]
        )
    return found


def simulated_waves(model: KernelModel, positions: Sequence[int], texts: Mapping[int, str]) -> list[list[Event]]:
    """Return the events of simulated wavefronts, without the first two iterations."""
    recorder = record(model)
    inside = set(positions)
    found: dict[int, list[Event]] = {}
    for step in sorted(recorder.steps, key=lambda one: one.start):
        if step.position in inside:
            found.setdefault(step.wave, []).append(Event(*_halves(texts[step.position]), step.start, step.end))
    first = texts[positions[0]]
    return [_from_iteration(events, first, 2) for events in found.values()]


def _from_iteration(events: list[Event], first: str, iteration: int) -> list[Event]:
    starts = [n for n, one in enumerate(events) if (one.name, one.operands) == _halves(first)]
    return events[starts[min(iteration, len(starts) - 1)] :] if starts else events


def _halves(text: str) -> tuple[str, str]:
    name, _, operands = text.partition(" ")
    return name, operands


def rhythm(waves: Sequence[Sequence[Event]]) -> dict[str, tuple[float, float, float]]:
    """Return the 10th percentile, median and 90th percentile of each measure of how instructions follow each other.

    Measures are in cycles, except the share of barriers, which is 0 to 1.
    """
    found: dict[str, list[float]] = {}
    for events in waves:
        for before, after in pairwise(events):
            kinds = {_kind(before), _kind(after)}
            if len(kinds) == 1 and None not in kinds:
                found.setdefault(f"{kinds.pop()} after {_kind(after)}", []).append(after.end - before.end)
        read: float | None = None
        for one, before in zip(events, [None, *events[:-1]], strict=True):
            if one.name.startswith("ds_read"):
                read = one.end
            elif one.name == "s_waitcnt" and "lgkmcnt(0)" in one.operands and read is not None:
                at_once = before is not None and _kind(before) != "matrix" and one.start - read < _AT_ONCE
                name = "lgkmcnt(0) at once, from the last ds_read" if at_once else "lgkmcnt(0) later on, its stall"
                found.setdefault(name, []).append(one.end - (read if at_once else one.start))
                read = None
            elif one.name == "s_waitcnt" and one.operands.strip().startswith("vmcnt") and "lgkm" not in one.operands:
                found.setdefault("vmcnt alone, its stall", []).append(one.end - one.start)
        whole = events[-1].end - events[0].start
        held = sum(one.end - one.start for one in events if one.name == "s_barrier")
        found.setdefault("barriers, share of the time", []).append(held / whole)
    return {name: _spread(values) for name, values in found.items()}


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    low, middle, high = (metrics.quantile(values, share) for share in (0.1, 0.5, 0.9))
    return low, middle, high


def _kind(event: Event) -> str | None:
    """Return the kind of an instruction for issue intervals (matrix, vector, scalar, LDS); none for waits and jumps."""
    if event.name.startswith("v_mfma"):
        return "matrix"
    if event.name.startswith("v_"):
        return None if "readfirstlane" in event.name else "vector"
    if event.name.startswith("ds_read"):
        return "ds_read"
    waits = event.name.startswith(("s_waitcnt", "s_barrier", "s_cbranch", "s_branch", "s_nop"))
    return "scalar" if event.name.startswith("s_") and not waits else None


def compare(folder: Path = SAMPLE, product: str = "MI355X", warps: int = 8) -> Comparison:
    """Compare trace and simulation for the loop of one traced kernel.

    A trace does not contain which data loads share in the caches, so loads are assumed to be limited by latency
    only.
    """
    trace = read(folder).instructions
    loop = loop_of(trace)
    issued = [i for i in trace if i.hits]
    machine = find_product(product)
    assert machine is not None
    arch = load(machine.arch)
    facts = KernelFacts(
        name="traced",
        arch=arch,
        program=program_of(trace, arch.name),
        resources=Resources(num_warps=warps, wavefront_size=arch.wavefront_size),
        occupancy=None,
        loops=(),
        product=machine,
    )
    effects = Effects(vector_memory=False, matrix_power=False)
    model = build(facts, effects)
    run = simulate(model, 1)
    number = next(n.loop.index for n in loops_of(model.nodes) if loop[0] is issued[n.loop.instructions[0]])
    iterations, count = run.result.iterations[number], run.iterations[number]
    share = (count - count // 2) * len(iterations.times)
    kinds: dict[str, list[float]] = {}
    for one in loop:
        at = CAUSE_COUNT * (issued.index(one) - iterations.first)
        mine = sum(iterations.end[at : at + CAUSE_COUNT]) - sum(iterations.middle[at : at + CAUSE_COUNT])
        entry = kinds.setdefault(one.mnemonic, [0.0, 0.0])
        entry[0] += one.latency / one.hits
        entry[1] += mine / share
    traced = sum(i.latency / i.hits for i in loop)
    texts = dict(enumerate(one.text for one in issued))
    seen = rhythm(traced_waves(folder, loop))
    ours = rhythm(simulated_waves(model, [issued.index(one) for one in loop], texts))
    both = {name: (seen[name], ours[name]) for name in seen if name in ours}
    return Comparison(traced, run.length[number], {n: (a, b) for n, (a, b) in kinds.items()}, both)


def tables(found: Comparison) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Return header and lines of both tables."""
    lines = [
        [name, f"{traced:.0f}", f"{simulated:.0f}"]
        for name, (traced, simulated) in sorted(found.kinds.items(), key=lambda item: -item[1][0])[:16]
    ]
    off = f"{found.simulated / found.traced - 1:+.1%}"
    lines.append(["all", f"{found.traced:.0f}", f"{found.simulated:.0f} ({off})"])
    yield ["cycles per iteration", "traced", "simulated"], lines
    lines = [[name, *(_words(each) for each in both)] for name, both in sorted(found.rhythm.items())]
    yield ["10th percentile / median / 90th", "traced", "simulated"], lines


def _words(spread: Sequence[float]) -> str:
    return " / ".join(f"{value:.2f}" if max(spread) < 1 else f"{value:.0f}" for value in spread)


_TEXT = """\
A thread trace of an fp4 product on the MI355X (one loop, 237 instructions, 8 wavefronts on a CU, four of them traced
instruction by instruction) beside the simulation of the same loop. What its loads share in the caches is not in a
trace; they are simulated with latency alone.
"""


def section(folder: Path = SAMPLE) -> list[str]:
    """Return the page's section about the thread trace; empty without one."""
    if not folder.is_dir():
        return []
    parts = ["## The simulator against a thread trace", "", _TEXT]
    for header, lines in tables(compare(folder)):
        parts += [*markdown(header, lines), ""]
    return parts


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--product", default="MI355X")
    parser.add_argument("--warps", type=int, default=8)
    options = parser.parse_args()
    for header, lines in tables(compare(options.folder, options.product, options.warps)):
        print("\n".join(aligned(header, lines)))


if __name__ == "__main__":
    main()
