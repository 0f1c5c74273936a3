"""Compare the cycles of a loop's iteration in a thread trace with the simulation of the same loop.

For one traced kernel, the order of the loop's instructions was published. Our kernel compiles to the same
instructions in another order, so its loop is also simulated in the published order.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from validation.benchmarks.model.compiling import Facts
from validation.benchmarks.model.problem import Problem
from validation.benchmarks.model.tiles import loop_cycles

if TYPE_CHECKING:
    from kprof.analysis import KernelFacts
    from kprof.inputs.amdgcn import AssemblyKernel, Instruction

TRACED_MHZ = 1440
"""Clock under both traces of the MI300X: 856,000 cycles in 599 us and 715,000 in 493 us
(kernels/gemm/gfx942/README.md of ROCm/gfx950-gluon-tutorials at 81a011da1cc0)."""

PUBLISHED = (
    "w B R4 M1 R4 M3 w B M1 R3 M1 w W1 w W2 w W1 G2 M1 G2 W4 M1 G4 M23 R1 M1 R1 M46 R1 M1 R1 M1 R1 w B W4 G3 W4 G5 "
    "M72 R3 M7 R3 M65 R3 M12 R3 M10 R3 M2 R1 M8"
)
"""Order of the traced loop of four wavefronts: matrix instructions, reads and writes of LDS, buffer loads, barriers and
waits (kernels/gemm/gfx942/intra_wave/note.md, ROCm/gfx950-gluon-tutorials at eb0f5ebe1284)."""
WAITS = ("lgkmcnt(0)", "lgkmcnt(0)", "vmcnt(3)", "vmcnt(1)", "vmcnt(0)", "lgkmcnt(0)")
"""Counters that the waits in this order wait for: LDS before barriers; before writes, as in the same page's first
region."""
_KINDS = {"M": "v_mfma", "R": "ds_read", "W": "ds_write", "G": "buffer_load"}
_FENCES = ("s_barrier", "s_waitcnt")


def figures(facts: Facts, problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Return traced and simulated cycles of each problem's only launch; none if it does not compile."""
    known = facts.prepare(point for one in problems for point in one.candidates[0].points)
    return [{} if found is None else _figures(found, problem) for found, problem in zip(known, problems, strict=True)]


def _figures(facts: "KernelFacts", problem: Problem) -> dict[str, Any]:
    candidate = problem.candidates[0]
    ordered = (
        None
        if not candidate.config["ordered"]
        else _cycles(replace(facts, program=in_order(facts.program, PUBLISHED, WAITS)))
    )
    simulated = _cycles(facts)
    traced = candidate.loop_cycles
    assert traced
    return {
        "cycles_traced": traced,
        "cycles_simulated": simulated,
        "cycles_ordered": ordered,
        "cycles_off": simulated / traced - 1,
        "ordered_off": None if ordered is None else ordered / traced - 1,
    }


def _cycles(facts: "KernelFacts") -> float:
    return loop_cycles(facts, TRACED_MHZ)[1]


def in_order(program: "AssemblyKernel", order: str, waits: Sequence[str]) -> "AssemblyKernel":
    """Return the program with its longest loop's instructions in another order.

    Instructions of one kind keep their order; instructions that ``order`` does not name come before the back edge's
    branch.

    Args:
        program: program of a kernel with one such loop, in one block.
        order: ``M4 R1 w B``: the number of instructions of each kind, and each wait and barrier.
        waits: operands of the order's waits.

    Raises:
        ValueError: the loop has other numbers of instructions than the order.
    """
    from kprof.inputs import amdgcn

    loop = max(program.loops, key=lambda one: len(one.instructions))
    inside = [program.instructions[i] for i in loop.instructions]
    *body, back = [one for one in inside if not one.mnemonic.startswith(_FENCES)]
    texts = list(_ordered(body, order, iter(waits)))
    first, last = loop.instructions[0], loop.instructions[-1]
    at: dict[int, list[str]] = {}
    for name, index in program.labels.items():
        at.setdefault(index, []).append(f"{name}:")
    lines = [f'\t.amdgcn_target "amdgcn-amd-amdhsa--{program.arch}"', f"{program.name}:"]
    for index, one in enumerate(program.instructions):
        lines += at.get(index, ())
        if index == first:
            lines += [f"\t{text}" for text in [*texts, back.text]]
        elif not first < index <= last:
            lines.append(f"\t{one.text}")
    read = amdgcn.parse("\n".join([*lines, ".Lfunc_end0:", ""])).functions[0]
    return replace(program, instructions=read.instructions, labels=read.labels)


def _ordered(body: "Sequence[Instruction]", order: str, waits: Iterator[str]) -> "Iterator[str]":
    pools: Mapping[str, list[str]] = {
        kind: [one.text for one in body if one.mnemonic.startswith(start)] for kind, start in _KINDS.items()
    }
    others = [one.text for one in body if not one.mnemonic.startswith(tuple(_KINDS.values()))]
    asked = dict.fromkeys(pools, 0)
    for kind, count in re.findall(r"([MRWG])(\d+)", order):
        asked[kind] += int(count)
    if asked != {kind: len(pool) for kind, pool in pools.items()}:
        raise ValueError(f"the loop has { ({kind: len(pool) for kind, pool in pools.items()}) }, the order {asked}")
    left = {kind: iter(pool) for kind, pool in pools.items()}
    for word in order.split():
        if word == "w":
            yield f"s_waitcnt {next(waits)}"
        elif word == "B":
            yield "s_barrier"
        else:
            yield from (next(left[word[0]]) for _ in range(int(word[1:])))
    yield from others


def summary(shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the error of the simulated cycles of each loop as compiled, and in its published order if there is one."""
    best = [one["cycles_off"] if one["ordered_off"] is None else one["ordered_off"] for one in shown]
    return {
        "cycles_off": fmean(abs(one["cycles_off"]) for one in shown),
        "most_off": max(abs(one["cycles_off"]) for one in shown),
        "in_published_order_most_off": max(map(abs, best)),
    }
