"""Determine the number of iterations of each assembly loop, from the TTGIR loop that it was compiled from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn import AssemblyKernel, InstructionClass, Loop
from kprof.inputs.mlir import Module, Operation, TensorType
from kprof_analyzers.lane_execution.arithmetic import MEMORY
from kprof_analyzers.lane_execution.entry import GRID
from kprof_analyzers.lane_execution.iterations import counted_iterations
from kprof_analyzers.matrix_instructions import matrix_instruction
from kprof_analyzers.memory.addressing import element_bytes, tile
from kprof_analyzers.memory.dataflow import is_load
from kprof_analyzers.model.entries import over_iterations
from kprof_analyzers.model.launch import Spread, samples
from kprof_analyzers.model.outline import LoopNode, Node
from kprof_analyzers.model.queues import is_queue
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.values import Value
from kprof_analyzers.source_lines import line_of

# In a loop over lanes, each iteration handles one lane. LLVM finds the lane as the lowest bit of a mask (with these
# instructions) and clears the bit.
_LOWEST_BIT = ("s_ff1_i32_", "s_ctz_i32_")
_CLEARED = ("s_andn2_", "s_and_not1_", "s_bitset0_")


def is_lane_loop(program: AssemblyKernel, loop: Loop) -> bool:
    """Return whether a loop handles the lanes of a mask one by one until no lane remains."""
    names = [program.instructions[i].opcode.mnemonic for i in loop.instructions]
    if len(loop.blocks) > 1 or not any(name.startswith("v_readlane_b32") for name in names):
        return False
    return any(n.startswith(_LOWEST_BIT) for n in names) and any(n.startswith(_CLEARED) for n in names)


def loops_of_source(program: AssemblyKernel, nodes: Sequence[Node]) -> list[LoopNode]:
    """Return the loops among some nodes that come from the source program, which excludes loops over lanes."""
    return [n for n in nodes if isinstance(n, LoopNode) and not is_lane_loop(program, n.loop)]


def lanes_of(facts: KernelFacts, loop: Loop) -> tuple[int, str]:
    """Return the maximum number of iterations of a loop over lanes (its active lanes), and where the number comes from.

    A scalar atomic of the TTGIR is executed by one lane; an atomic on a tensor may have all lanes active.
    """
    size = facts.resources.wavefront_size
    lanes = size if isinstance(size, int) else facts.arch.wavefront_size
    places = {place for i in loop.instructions if (place := line_of(facts.program.instructions[i])) is not None}
    atomics = [op for op in facts.ttgir.operations if "atomic" in op.name] if facts.ttgir is not None else []
    mine = [op for op in atomics if line_of(op) in places]
    if mine and not any(_has_tensor(op) for op in mine):
        return 1, "one lane: the atomic is scalar"
    return lanes, "all lanes of a wavefront, assumed to be active"


def _has_tensor(op: Operation) -> bool:
    return any(isinstance(t, TensorType) for t in (*op.operand_types, *op.result_types))


# Assumed iterations of a loop if nothing is known about it.
ASSUMED = 16.0
# Trips.source of a loop that retries a compare-and-swap. This is the only assumption that hardly changes times.
RETRY = "assumed: a compare-and-swap succeeds at once"
# If an inner loop has a larger share of a loop's instructions, both are one source loop that the compiler split.
_NEARLY = 0.9


@dataclass(frozen=True)
class Trips:
    """Iterations of one loop.

    Attributes:
        mean: iterations per entry, averaged over the sampled workgroups.
        each: iterations per entry of each workgroup; empty if all are equal or unknown.
        known: whether the launch determines the iterations; otherwise they are assumed.
        source: how the iterations were determined, as a phrase.
        operation: the TTGIR loop; ``None`` if there is none.
        missing: names of unknown inputs that the iterations depend on, such as ``n`` or ``values of lengths``.
        elements: elements that one iteration covers on the axis of unknown extent; ``None`` if unknown.
        unrolled: iterations of the TTGIR loop for each iteration of this loop. Not a whole number if the compiler moved
            some iterations out of the loop.
    """

    mean: float
    each: tuple[float, ...] = ()
    known: bool = False
    source: str = "assumed"
    operation: Operation | None = None
    missing: tuple[str, ...] = ()
    elements: float | None = None
    unrolled: float = 1

    @property
    def written(self) -> float:
        """Mean iterations of the TTGIR loop per entry."""
        # The factor of an unrolled loop may be a quotient of counts. Rounding removes its floating-point error, so that
        # a whole number of iterations stays whole.
        return round(self.mean * self.unrolled, 9)


def loop_trips(
    facts: KernelFacts, nodes: Sequence[Node], evaluator: Evaluator | None, where: Spread | None = None
) -> dict[int, Trips]:
    """Return the iterations of every loop of an outline, by loop number.

    Args:
        facts: the kernel.
        nodes: its outline.
        evaluator: evaluates values of the TTGIR; if ``None``, the TTGIR is not used.
        where: the launch. It is needed to count iterations in the assembly: those of kernels without TTGIR, and
            those of unrolled loops. If ``None``, nothing is counted there.
    """
    found: dict[int, Trips] = {}
    if facts.ttgir is None or evaluator is None:
        _assume(facts, nodes, "no TTGIR" if facts.ttgir is None else "the launch is not known", found)
        if facts.ttgir is None and where is not None and facts.program.loops:
            found |= _counted(facts, where, found)
        return found
    matches: dict[int, Operation | None] = {}
    _match(facts.program, facts.ttgir, nodes, None, matches)
    _count(facts, nodes, matches, evaluator, found)
    return _with_exact_factors(facts, found, where)


def _with_exact_factors(facts: KernelFacts, found: dict[int, Trips], where: Spread | None) -> dict[int, Trips]:
    """Correct the iterations of unrolled loops by counting them: execute the code for one lane.

    The unroll factor that is derived from the loops' instructions is only an estimate.
    """
    unrolled = [number for number, trips in found.items() if trips.unrolled > 1 and trips.known]
    if not unrolled or where is None or not where.known:
        return found
    counts = counted_iterations(facts, samples(where), where.grid)
    for number in unrolled:
        trips, each = found[number], counts.get(number)
        mean = sum(each) / len(each) if isinstance(each, tuple) else 0.0
        if not mean or not trips.mean:
            continue
        factor = trips.written / mean
        scaled = tuple(one * trips.unrolled / factor for one in trips.each)
        found[number] = replace(trips, mean=mean, each=scaled, unrolled=factor, source=_source(round(factor)))
    return found


def _counted(facts: KernelFacts, where: Spread, assumed: Mapping[int, Trips]) -> dict[int, Trips]:
    """Return the iterations of loops, counted by executing the code for one lane.

    A loop whose count is unknown keeps its assumed iterations, with the names of the missing inputs.
    """
    counts = counted_iterations(facts, samples(where), where.grid if where.known else None)
    found = {}
    for number, trips in assumed.items():
        each = counts.get(number)
        if trips.known or each is None:
            continue
        if isinstance(each, frozenset):
            names = tuple(sorted(each))
            unknown = f" (not known: {', '.join(names)})" if names else ""
            missing = tuple(name for name in names if name not in {MEMORY, GRID})
            found[number] = replace(trips, source=f"{trips.source}{unknown}", missing=missing)
            continue
        uneven = each if len(set(each)) > 1 else ()
        found[number] = Trips(sum(each) / len(each), uneven, True, "executing the code for one lane")
    return found


def _assume(facts: KernelFacts, nodes: Sequence[Node], why: str, found: dict[int, Trips]) -> None:
    for node in nodes:
        if isinstance(node, LoopNode):
            over_lanes = is_lane_loop(facts.program, node.loop)
            assumed = Trips(ASSUMED, source=f"assumed: {why}")
            found[node.loop.index] = _over_lanes(facts, node) if over_lanes else assumed
            _assume(facts, node.body, why, found)


def _over_lanes(facts: KernelFacts, node: LoopNode) -> Trips:
    lanes, source = lanes_of(facts, node.loop)
    return Trips(float(lanes), (), True, source)


def _count(
    facts: KernelFacts,
    nodes: Sequence[Node],
    matches: dict[int, Operation | None],
    evaluator: Evaluator,
    found: dict[int, Trips],
) -> None:
    used: dict[int, int] = {}
    for node in nodes:
        if not isinstance(node, LoopNode):
            continue
        loop = matches.get(node.loop.index)
        if is_lane_loop(facts.program, node.loop):
            found[node.loop.index] = _over_lanes(facts, node)
        elif loop is None and node.loop.index in matches:
            found[node.loop.index] = Trips(1.0, (), True, "the compiler split one loop in two")
        elif loop is None:
            swaps = any("cmpswap" in facts.program.instructions[i].opcode.name for i in node.loop.instructions)
            found[node.loop.index] = (
                Trips(1.0, source=RETRY)
                if swaps and not any(isinstance(inner, LoopNode) for inner in node.body)
                else Trips(ASSUMED, source="assumed: no matching loop in the TTGIR")
            )
        else:
            iterations = evaluator.trips(loop)
            exact = over_iterations(evaluator, loop)
            evaluator.enter(loop)
            innermost = not loops_of_source(facts.program, node.body)
            factor = _unrolled(facts, node, loop) if innermost else 1
            found[node.loop.index] = (
                _trips(
                    iterations,
                    factor,
                    loop,
                    queue=is_queue(loop, evaluator),
                )
                if exact is None or iterations is None
                else _averaged(*exact, factor, loop)
            )
            if iterations is None:
                found[node.loop.index] = _unknown(found[node.loop.index], evaluator, loop, factor)
            used[loop.index] = node.loop.index
        trips = found[node.loop.index]
        if trips.known and trips.mean == 0:
            _never_entered(node.body, found)
        else:
            _count(facts, node.body, matches, evaluator, found)


def _never_entered(nodes: Sequence[Node], found: dict[int, Trips]) -> None:
    """Set the iterations of loops inside a loop with 0 iterations to 0, even if their own bounds are unknown."""
    for node in nodes:
        if isinstance(node, LoopNode):
            found[node.loop.index] = Trips(0.0, (), True, "the loop around it has no iteration")
            _never_entered(node.body, found)


def _unknown(trips: Trips, evaluator: Evaluator, loop: Operation, factor: int) -> Trips:
    """Return ``trips`` with the names of unknown inputs and with the elements per iteration on the unknown axis."""
    names = evaluator.missing(loop)
    if not names:
        return trips
    elements = evaluator.elements_an_iteration(loop) if loop.name == "scf.for" else None
    return replace(
        trips,
        source=f"{trips.source} (not known: {', '.join(names)})",
        missing=names,
        elements=None if elements is None else factor * elements,
    )


def _trips(iterations: Value | None, factor: int, loop: Operation, *, queue: bool) -> Trips:
    if iterations is None and loop.name == "scf.while":
        return Trips(1.0, source="assumed: its end depends on data", operation=loop)
    if iterations is None:
        source = "assumed: the bounds depend on data or on unknown arguments"
        return Trips(ASSUMED, source=source, operation=loop)
    each = [iterations] if isinstance(iterations, int) else iterations
    counts = tuple(t / factor for t in each) if each else (0.0,)
    source = "the launch's arguments; tiles are drawn from a counter in order" if queue else _source(factor)
    uneven = counts if len(set(counts)) > 1 else ()
    return Trips(sum(counts) / len(counts), uneven, True, source, loop, unrolled=factor)


def _source(factor: int) -> str:
    unrolled = "" if factor == 1 else f", {factor} iterations unrolled into one"
    return f"the launch's arguments{unrolled}"


def _averaged(entries: Sequence[int], iterations: Sequence[int], factor: int, loop: Operation) -> Trips:
    """Return the iterations of a loop that is entered several times: means over all entries, and for each workgroup."""
    each = tuple(t / max(1, e) / factor for t, e in zip(iterations, entries, strict=True))
    mean = sum(iterations) / max(1, sum(entries)) / factor
    return Trips(mean, each if len(set(each)) > 1 else (), True, _source(factor), loop, unrolled=factor)


def _match(
    program: AssemblyKernel,
    module: Module,
    nodes: Sequence[Node],
    around: int | None,
    matches: dict[int, Operation | None],
) -> None:
    """Pair the assembly's and the TTGIR's loops of one nesting level, in order, and then their inner loops."""
    ours = loops_of_source(program, nodes)
    theirs = [op for op in module.operations if op.is_loop and op.loop == around]
    if not ours or not theirs:
        return
    for node, op in _aligned(program, module, ours, theirs):
        inner = _same_again(program, node) if _levels(program, node) > _depth(module, op) else None
        if inner is not None:
            matches[inner.loop.index] = op
        matches[node.loop.index] = op if inner is None else None
        _match(program, module, node.body if inner is None else inner.body, op.index, matches)


def _levels(program: AssemblyKernel, node: LoopNode) -> int:
    return 1 + max((_levels(program, inner) for inner in loops_of_source(program, node.body)), default=0)


def _depth(module: Module, loop: Operation) -> int:
    return 1 + max((_depth(module, op) for op in module.operations if op.is_loop and op.loop == loop.index), default=0)


def _same_again(program: AssemblyKernel, node: LoopNode) -> LoopNode | None:
    """Return the inner loop if it has nearly all of a loop's instructions, because the compiler split a source loop."""
    inner = loops_of_source(program, node.body)
    if len(inner) != 1 or len(inner[0].loop.instructions) < _NEARLY * len(node.loop.instructions):
        return None
    return inner[0]


def _aligned(
    program: AssemblyKernel, module: Module, ours: Sequence[LoopNode], theirs: Sequence[Operation]
) -> list[tuple[LoopNode, Operation]]:
    if len(ours) == len(theirs):
        return list(zip(ours, theirs, strict=True))
    places = [_lines_of(module, op) for op in theirs]
    pairs = []
    for node in ours:
        lines = {
            (f.file.rpartition("/")[2], f.line)
            for i in node.loop.instructions
            if (f := program.instructions[i].user_frame) is not None
        }
        scores = [len(lines & place) / (len(lines | place) or 1) for place in places]
        best = max(range(len(theirs)), key=scores.__getitem__)
        if scores[best] > 0:
            pairs.append((node, theirs[best]))
    return pairs


def _lines_of(module: Module, loop: Operation) -> set[tuple[str, int]]:
    frames = (op.user_frame for op in module.inside(loop))
    return {(f.file.rpartition("/")[2], f.line) for f in frames if f is not None}


def _unrolled(facts: KernelFacts, node: LoopNode, loop: Operation) -> int:
    """Return the number of TTGIR iterations in one assembly iteration.

    It is the ratio of the loops' matrix operations and the ratio of their loaded bytes. Unrolling increases both
    ratios; a layout that repeats elements in several wavefronts increases only one of them.
    """
    assert facts.ttgir is not None
    own = [op for op in facts.ttgir.inside(loop) if op.loop == loop.index]
    flops = sum(_flops(op) for op in own if op.name in {"tt.dot", "tt.dot_scaled"})
    loaded = sum(_bytes(op) for op in own if is_load(op))
    warps, lanes = facts.resources.num_warps, facts.resources.wavefront_size
    if not isinstance(warps, int) or not isinstance(lanes, int):
        return 1
    done, moved = 0, 0
    for i in (i for part in node.body if isinstance(part, range) for i in part):
        opcode = facts.program.instructions[i].opcode
        if opcode.cls is InstructionClass.MATRIX:
            known = matrix_instruction(facts.arch, facts.program.instructions[i])
            done += known.flops if known is not None else 0
        moved += (opcode.bytes_per_lane or 0) * lanes if opcode.cls is InstructionClass.VMEM and opcode.is_load else 0
    ratios = [warps * is_ / should for is_, should in ((done, flops), (moved, loaded)) if is_ and should]
    factor = round(min(ratios)) if ratios else 1
    # If all wavefronts repeat a product of few rows, the ratio of operations is larger by a power of two. The ratios
    # may only differ by such a factor.
    more = max(ratios) / factor if factor > 1 else 0.0
    return factor if any(abs(more / repeat - 1) < 0.2 for repeat in (1, 2, 4, 8, 16)) else 1


def _bytes(load: Operation) -> int:
    shape, size = tile(load), element_bytes(load)
    return shape.elements * size if shape is not None and size is not None else 0


def _flops(dot: Operation) -> int:
    tensors = [t for t in (*dot.operand_types, *dot.result_types) if isinstance(t, TensorType)]
    if len(tensors) < 3:
        return 0
    # With e2m1, an element of the operand's tensor contains two 4-bit numbers.
    packed = 2 if "lhs = e2m1" in dot.text else 1
    return 2 * packed * tensors[0].elements * tensors[-1].shape[-1]
