"""The simulator against a thread trace: one turn of the traced loop, instruction by instruction.

The loop of a decoded thread trace (``code.json``) is simulated as it stands, with the wavefronts of one workgroup on a
CU, and its clocks are compared with the traced ones, which are means over the hits of the traced wavefronts.
"""

import argparse
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from kprof.analysis import KernelFacts
from kprof.hardware.machine import find_product, load
from kprof.inputs import amdgcn
from kprof.inputs.thread_trace import Instruction, read
from kprof.report import Resources
from kprof_analyzers.throughput import Effects
from kprof_analyzers.throughput.kernel import build, simulate
from kprof_analyzers.throughput.outline import loops_of
from kprof_analyzers.throughput.simulate import CAUSE_COUNT

SAMPLE = Path(__file__).parents[3] / "shared/samples/att/rocprofv3_triton_gemm_afp4"


@dataclass(frozen=True)
class Comparison:
    """Traced and simulated clocks of one turn.

    Attributes:
        traced: clocks of a turn, summed over its instructions.
        simulated: the same from the simulator.
        kinds: what was traced and simulated for one kind of instruction, in clocks of a turn.
    """

    traced: float
    simulated: float
    kinds: dict[str, tuple[float, float]]


def loop_of(instructions: tuple[Instruction, ...]) -> list[Instruction]:
    """The longest run of instructions with the most frequent number of hits."""
    hits, _ = max(Counter(i.hits for i in instructions if i.hits > 1).items(), key=lambda item: item[0] * item[1])
    return [i for i in instructions if i.hits == hits]


def program_of(instructions: tuple[Instruction, ...], arch: str) -> amdgcn.Kernel:
    """The listing as a program: branches get labels back, and what was never issued is left out."""
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


def compare(folder: Path = SAMPLE, product: str = "MI355X", warps: int = 8) -> Comparison:
    """Trace against simulation for the loop of one traced kernel.

    What the loads share in the caches is not in a trace, so that they are taken to be limited by latency alone.
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
    turns, count = run.result.turns[number], run.turns[number]
    share = (count - count // 2) * len(turns.times)
    kinds: dict[str, list[float]] = {}
    for one in loop:
        at = CAUSE_COUNT * issued.index(one)
        mine = sum(turns.end[at : at + CAUSE_COUNT]) - sum(turns.middle[at : at + CAUSE_COUNT])
        entry = kinds.setdefault(one.mnemonic, [0.0, 0.0])
        entry[0] += one.latency / one.hits
        entry[1] += mine / share
    traced = sum(i.latency / i.hits for i in loop)
    return Comparison(traced, run.length[number], {n: (a, b) for n, (a, b) in kinds.items()})


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--product", default="MI355X")
    parser.add_argument("--warps", type=int, default=8)
    options = parser.parse_args()
    found = compare(options.folder, options.product, options.warps)
    print(f"{'clocks of a turn':24} {'traced':>9} {'simulated':>9}")
    for name, (traced, simulated) in sorted(found.kinds.items(), key=lambda item: -item[1][0])[:16]:
        print(f"{name:24} {traced:9.0f} {simulated:9.0f}")
    print(f"{'all':24} {found.traced:9.0f} {found.simulated:9.0f}  {found.simulated / found.traced - 1:+.1%}")


if __name__ == "__main__":
    main()
