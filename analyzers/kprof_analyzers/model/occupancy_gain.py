"""Extend a prediction with the gain of higher occupancy and the roofline, which are computed once per kernel."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from kprof.analysis import KernelFacts
from kprof.document import OccupancyWorth, Prediction
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof.roofline import Roofline, RooflineLevel
from kprof_analyzers.matrix_instructions import matrix_instruction
from kprof_analyzers.model.kernel import build, predict, predict_model
from kprof_analyzers.model.outline import LoopNode, Node
from kprof_analyzers.model.runs import KernelModel
from kprof_analyzers.model.trips import RETRY
from kprof_analyzers.peaks import arithmetic, bandwidths

_LEVELS = ("lds", "l1", "l2", "mall", "hbm")
_FLOATING = re.compile(r"_f(16|32|64)\b")
# Instructions counted by the hardware counters SQ_INSTS_VALU_ADD, MUL, TRANS and FMA; these do not count comparisons,
# conversions and moves.
_ONE = ("add", "sub", "subrev", "mul", "exp", "log", "rcp", "rsq", "sqrt", "sin", "cos", "tanh")
_SAME_RATE = {"bf8": "fp8"}
_TWO = ("fma", "fmac", "fmamk", "fmaak", "mad", "mac", "madmk", "madak")


def roofline(model: KernelModel, traffic: Mapping[str, float]) -> Roofline | None:
    """Return a launch's position under the rooflines of the model's GPU, or ``None`` if unknown.

    The operations and bytes of all lanes are counted, including masked lanes.

    Args:
        model: the kernel.
        traffic: bytes moved at L2 and the levels behind it, as in :class:`kprof.document.Prediction`.
    """
    machine, product = model.machine, model.machine.product
    if product is None or not model.where.known:
        return None
    warps = model.facts.resources.num_warps
    waves = (warps if isinstance(warps, int) else 4) * model.where.total
    flops: dict[str, float] = defaultdict(float)
    moved: dict[str, float] = defaultdict(float)
    for part, times in _stretches(model, model.nodes, float(waves)):
        for position in part:
            instruction = model.facts.program.instructions[position]
            for kind, count in _flops(instruction, machine.arch, machine.lanes):
                flops[kind] += times * count
            for level in _levels_inside_cu(instruction):
                moved[level] += times * machine.lanes * (instruction.opcode.bytes_per_lane or 0)
    amounts = {**moved, **traffic}
    cus = product.compute_units
    peaks = bandwidths(machine.arch, product, cus, product.xcds, product.clock_mhz)
    return Roofline(
        flops=dict(sorted(flops.items(), key=lambda item: -item[1])),
        peaks_tflops={kind: peak for kind in flops if (peak := arithmetic(machine.arch, product, kind)) is not None},
        levels=[RooflineLevel(name, amounts[name], peaks.get(name)) for name in _LEVELS if amounts.get(name)],
    )


def _stretches(model: KernelModel, nodes: Sequence[Node], times: float) -> Iterator[tuple[range, float]]:
    """Yield straight-line stretches with the number of times that they are executed."""
    for node in nodes:
        if isinstance(node, LoopNode):
            yield from _stretches(model, node.body, times * model.trips[node.loop.index].mean)
        else:
            yield node, times


def _flops(instruction: Instruction, arch: Architecture, lanes: int) -> Iterator[tuple[str, int]]:
    """Yield the floating-point operations of one wavefront's instruction, by kind of arithmetic."""
    opcode = instruction.opcode
    if opcode.cls is InstructionClass.MATRIX:
        known = matrix_instruction(arch, instruction)
        if known is not None and not known.type.startswith("i"):
            yield f"matrix_{_SAME_RATE.get(known.type, known.type)}", known.flops
    elif opcode.cls is InstructionClass.VALU:
        for name, _ in instruction.halves:
            if (size := _FLOATING.search(name)) and (count := _operations_per_lane(name)):
                yield f"valu_fp{size[1]}", count * lanes


def _operations_per_lane(name: str) -> int:
    """Return the number of floating-point operations that an instruction performs per lane."""
    stem = name.removeprefix("v_").removeprefix("s_").removeprefix("dual_")
    pairs = 2 if stem.startswith("pk_") else 1
    word = stem.removeprefix("pk_").partition("_")[0]
    return pairs * (2 if word in _TWO else 1 if word in _ONE else 0)


def _levels_inside_cu(instruction: Instruction) -> Iterator[str]:
    """Yield the memory levels inside a CU (LDS, vector cache) that an instruction's bytes pass through."""
    cls = instruction.opcode.cls
    if cls in {InstructionClass.VMEM, InstructionClass.SCRATCH}:
        yield "l1"
    if cls is InstructionClass.LDS or instruction.to_lds:
        yield "lds"


def explained(facts: KernelFacts, model: KernelModel | None = None) -> Prediction:
    """Return the prediction of a launch, with its roofline and the gain of one more workgroup per CU.

    The roofline and the gain are omitted if the time is unknown.

    Args:
        facts: the kernel.
        model: the kernel's simulation input, or None to build it.
    """
    model = build(facts) if model is None else model
    prediction = predict_model(model)
    if prediction.time_us is not None and (place := roofline(model, prediction.traffic)) is not None:
        prediction = msgspec.structs.replace(prediction, roofline=place)
    if prediction.time_us is None or facts.occupancy is None:
        return prediction
    allowed = max(1, int(facts.occupancy.workgroups_per_cu))
    worth = OccupancyWorth(allowed + 1, None)
    if model.machine.units is not None and model.where.total > model.machine.units * allowed:
        more = msgspec.structs.replace(facts.occupancy, workgroups_per_cu=allowed + 1)
        worth = OccupancyWorth(allowed + 1, predict(replace(facts, occupancy=more)).time_us)
    return msgspec.structs.replace(prediction, occupancy_worth=worth)


def without_guesses(prediction: Prediction) -> Prediction:
    """Return the prediction without times if a loop's iterations are unknown; cycles per iteration remain."""
    if trips_known(prediction):
        return prediction
    return msgspec.structs.replace(
        prediction,
        time_us=None,
        events_us=None,
        low_us=None,
        high_us=None,
        cycles=None,
        speed_of_light_us=None,
        speed_of_light_percent=None,
        occupancy_worth=msgspec.UNSET,
        roofline=msgspec.UNSET,
        traffic={},
    )


def trips_known(prediction: Prediction) -> bool:
    """Return whether the iterations of every loop are known, except for retry loops of a compare-and-swap."""
    return all(loop.trips_known or loop.trips_from == RETRY for loop in prediction.loops)
