"""Predict the time of a kernel from its facts."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf

from kprof.analysis import KernelFacts
from kprof.document import Prediction
from kprof.inputs.garbage_collection import paused
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import element_bytes
from kprof_analyzers.memory.dataflow import is_load
from kprof_analyzers.model.access_lines import AccessLine, accesses_of, at_instructions
from kprof_analyzers.model.address_work import address_work
from kprof_analyzers.model.caches_before import found as found_before
from kprof_analyzers.model.code_accesses import CodeTraffic, code_traffic
from kprof_analyzers.model.contention import on_one_address
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.entries import Branch, ends
from kprof_analyzers.model.explain import explain, loop_predictions
from kprof_analyzers.model.fetched import fetched_shares
from kprof_analyzers.model.launch import Spread, samples, spread, together
from kprof_analyzers.model.lds import conflict_shares
from kprof_analyzers.model.machine import Machine, machine_of
from kprof_analyzers.model.memory import memory_paths
from kprof_analyzers.model.outline import BranchNode, LoopNode, Node, loops_of, outline, span_of
from kprof_analyzers.model.passing import NOTHING, passing
from kprof_analyzers.model.program import DELAY, KIND, LOAD, STREAMED, VMEM, WHICH, Translator
from kprof_analyzers.model.reuse import of_one_xcd
from kprof_analyzers.model.runs import KernelModel, Run, matrix_cycles_of
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.setting import MemoryPath, SimulationInput
from kprof_analyzers.model.simulate import SimulationResult, Simulator
from kprof_analyzers.model.steps import lay_out, split_barriers
from kprof_analyzers.model.taken import of_operations, taken_shares, with_branches
from kprof_analyzers.model.traffic import Access, Sharing, accesses, footprint, sharing, within_caches, within_l2
from kprof_analyzers.model.trips import Trips, loop_trips
from kprof_analyzers.model.write_backs import write_backs


def one_side(found: Sequence[Access], evaluator: Evaluator, come_to: Mapping[int, float]) -> list[Access]:
    """Assume that each branch with an unknown condition takes the side that moves more bytes.

    Return all accesses; accesses on the side that moves fewer bytes get ``times`` 0.

    Args:
        found: accesses of a kernel.
        evaluator: evaluates the conditions of branches outside loops.
        come_to: operations that only some iterations execute, with their known frequency; their branches are kept.
    """
    moved: dict[Branch, float] = defaultdict(float)
    sides = [list(_sides(a.operation, evaluator)) if a.operation.index not in come_to else [] for a in found]
    for access, mine in zip(found, sides, strict=True):
        for side in mine:
            moved[side] += access.tile_bytes * access.times
    return [
        replace(access, times=0.0) if any(_is_less(side, moved) for side in mine) else access
        for access, mine in zip(found, sides, strict=True)
    ]


def _is_less(side: Branch, moved: Mapping[Branch, float]) -> bool:
    """Return whether a side of a branch moves fewer bytes than the other; of equal sides, ``else`` counts as fewer."""
    number, region = side
    other = moved.get((number, 1 - region), 0.0)
    return moved[side] < other or (moved[side] == other and region == 1)


def _sides(op: Operation, evaluator: Evaluator) -> Iterator[Branch]:
    """Yield each region (``then`` or ``else``) of branches with an unknown condition that contains an operation.

    The condition of a branch inside a loop counts as unknown.
    """
    inner = op
    while inner.parent is not None:
        outer = op.module.operations[inner.parent]
        if outer.name == "scf.if":
            known = outer.loop is None and evaluator.certain(evaluator.flow.inputs(outer)[0]) is not None
            if not known:
                yield outer.index, inner.region
        inner = outer


def followed_loads(facts: KernelFacts, evaluator: Evaluator | None, request: float) -> dict[int, float]:
    """Return loads that find most of their data in L2, with the share of iterations that request new data from L2.

    Such a load advances by less than a request per iteration, so the previous iteration has fetched its next bytes. A
    source line is only included if all of its loads are of this kind; it gets the largest of their shares.

    Args:
        facts: the kernel.
        evaluator: evaluator of its workgroups; ``None`` if the launch is unknown.
        request: minimum bytes of a request from a CU to L2, and from L2 to the next level.
    """
    if facts.ttgir is None or evaluator is None:
        return {}
    found: dict[AccessLine, float] = {}
    for op, line in accesses_of(facts.ttgir):
        # Loads of iterations that the compiler peeled off are outside of loops, in the assembly as in the TTGIR.
        if is_load(op) and op.loop is not None:
            found[line] = max(found.get(line, 0.0), _begun(evaluator, op, request))
    positions = at_instructions(facts.program, {line: share for line, share in found.items() if share < 1})
    looped = {i for loop in facts.program.loops for i in loop.instructions} if positions else set()
    return {position: share for position, share in positions.items() if position in looped}


def _begun(evaluator: Evaluator, load: Operation, request: float) -> float:
    """Return the share of iterations in which a load requests new data; shares of 1/2 and more are rounded up to 1."""
    loop = None if load.loop is None else load.module.operations[load.loop]
    size = element_bytes(load)
    if loop is None or loop.name != "scf.for" or size is None:
        return 1.0
    evaluator.enter(loop, first=True)
    evaluator.inside(load.loop)
    reached = ends(evaluator, load, 2)
    if reached is None:
        return 1.0
    first, second = ([value] if isinstance(value, int) else value for value in reached)
    steps = {b - a for a, b in zip(first, second, strict=False)}
    share = abs(steps.pop()) * size / request if len(steps) == 1 else 1.0
    return share if share < 1 / 2 else 1.0


_ALL = Effects()
_STEPS = 9000
_MOST_ITERATIONS = 8
_FEWEST_ITERATIONS = 4


def predict(facts: KernelFacts, *, effects: Effects = _ALL) -> Prediction:
    """Predict one launch of a kernel, under the timing condition in its facts.

    Args:
        facts: the kernel with its launch. Assumptions replace a missing grid, argument, product or TTGIR.
        effects: effects that the model takes into account.
    """
    with paused():
        return predict_model(build(facts, effects))


def predict_model(model: KernelModel) -> Prediction:
    """Predict a launch from a model that :func:`build` returned, like :func:`predict`."""
    run = simulate(model, model.where.resident)
    cycles, loops = launch_cycles(model, run), loop_predictions(model, run)
    return explain(model, run, cycles, loops, exposed=exposed_cycles(model, run))


def launch_cycles(model: KernelModel, run: Run) -> float:
    """Return the cycles of a launch: all rounds of workgroups, where a round fills every CU once.

    A single round takes as long as its longest workgroup. With several rounds, a CU starts the next workgroup when one
    ends, so only the end of the launch waits for the longest workgroup.
    """
    where = model.where
    rounds = where.rounds + (1 if where.last else 0)
    if rounds <= 1:
        return run.longest if where.resident == 1 else (run.cycles + run.longest) / 2
    paths: Sequence[MemoryPath] = ()
    if where.last and where.rounds:
        paths = memory_paths(model.facts, model.machine, model.effects, where, model.sharing, last=True)
    # If the last round has one workgroup per CU, the simulation of a single workgroup is reused for it.
    alike = where.last == 1 and tuple(paths) == tuple(model.paths)
    alone = run
    if where.resident > 1:
        alone = simulate(model if alike else replace(model, l2_paths=None), 1)
    steady = _steady_round(model, run, alone)
    cycles = run.cycles + max(0.0, where.rounds - 1) * steady
    if paths:
        end = alone if alike else simulate(replace(model, paths=paths), where.last)
        cycles += min(steady, end.cycles)
    return cycles + (run.longest - run.cycles) / 2


def exposed_cycles(model: KernelModel, run: Run) -> float:
    """Return the cycles in which a launch's first and last workgroups leave the memory system idle.

    Before its first loads and between its last load and its stores, a workgroup moves nothing. In the middle of a
    launch, other workgroups use the memory system during this time; at the start and the end of the launch, no
    workgroup does. These cycles are only computed for kernels without loops and without a TTGIR, because the model's
    parameters were fitted on other kernels without these cycles.
    """
    if model.facts.ttgir is not None or loops_of(model.nodes):
        return 0.0
    alone = run if model.where.resident == 1 else simulate(replace(model, l2_paths=None), 1)
    return max(0.0, alone.result.cycles - alone.result.memory)


def _steady_round(model: KernelModel, run: Run, alone: Run) -> float:
    """Return the cycles of a round in the middle of a launch.

    In the first round all workgroups of a CU start together and wait for the same resources. In later rounds one
    workgroup starts or ends while another computes. Work outside long loops then takes as long as the busiest pipe
    needs for all workgroups, or as long as one workgroup needs alone, whichever is longer. Long loops reach a steady
    state in the first and in later rounds.

    A workgroup's last stores, for which it does not wait, still occupy the memory system when the next workgroup loads.
    This effect is only considered for kernels without a TTGIR, because the model's parameters were fitted on other
    kernels without it.
    """
    together = model.where.resident
    if together < 2:
        return run.cycles
    whole, one = run.result.cycles, alone.result.cycles
    each = max(0.0, whole - one) / (together - 1)
    least = run.result.memory if model.facts.ttgir is None else 0.0
    return run.cycles - whole + max(min(whole, max(together * each, one)), least)


def build(facts: KernelFacts, effects: Effects = _ALL) -> KernelModel:
    """Return the input of a kernel's simulations; the arguments are those of :func:`predict`."""
    lanes = facts.resources.wavefront_size
    lanes = lanes if isinstance(lanes, int) else facts.arch.wavefront_size
    machine = machine_of(facts.arch, facts.product, lanes, wgp=facts.program.registers.wgp_mode)
    where = spread(facts, machine, effects)
    nodes = outline(facts.program)
    evaluator = None
    if facts.ttgir is not None:
        evaluator = Evaluator(facts.ttgir, facts.arguments, samples(where), where.grid, facts.contents)
    trips = loop_trips(facts, nodes, evaluator, where)
    looped = [trips[n.loop.index] for n in loops_of(nodes)]
    come_to: Mapping[int, float] = {}
    rare = effects.rare_branches and facts.ttgir is not None
    if rare and evaluator is not None and (taken := taken_shares(evaluator)):
        come_to = of_operations(evaluator.module, taken)
        nodes, parts = with_branches(facts.program, evaluator.module, nodes, come_to)
        trips |= {number: Trips(share, (), True, "the branch's condition") for number, share in parts.items()}
    found, shared = _traffic(facts, machine, where, evaluator, looped, come_to=come_to, effects=effects)
    executed = _executed(facts, machine, where, trips) if facts.ttgir is None else None
    if executed is not None and executed.accesses:
        shared = _code_sharing(executed, machine, where)
    warps = facts.resources.num_warps
    warps = warps if isinstance(warps, int) else 4
    apart = warps < machine.simds
    simds, waves = (1, warps) if apart else (machine.simds, warps // machine.simds)
    conflicts = conflict_shares(facts) if effects.lds_conflicts else {}
    fetched = fetched_shares(facts, machine.figures["request_bytes"], wrapped=effects.wrapped_rows)
    fetched |= executed.fetched if executed is not None else {}
    followed = followed_loads(facts, evaluator, machine.figures["request_bytes"]) if effects.followed_lines else {}
    together = int(machine.figures["lane_addresses"])
    addressed = address_work(facts, _l1_line(machine), together) if effects.scattered_addresses else {}
    addressed |= executed.addressed if executed is not None and effects.scattered_addresses else {}
    translator = Translator(machine, effects, simds, conflicts, fetched, followed=followed, addressed=addressed)
    code = translator.translate(facts.program.instructions)
    kept_out = passing(facts.program, code.ops, nodes, trips) if effects.cache_modifiers else NOTHING
    shared = found_before(facts.condition, shared, where.total, machine, kept_out, tensor_bytes=facts.tensor_bytes)
    paths = memory_paths(facts, machine, effects, where, shared)
    l2_paths = memory_paths(facts, machine, effects, where, shared, near_only=True)
    free = l2_paths if effects.out_of_step and l2_paths[LOAD].cycles_per_byte < paths[LOAD].cycles_per_byte else None
    return KernelModel(
        facts,
        machine,
        effects,
        where,
        nodes,
        trips,
        shared,
        found,
        code,
        paths,
        simds,
        waves,
        apart,
        free,
        followed,
        kept_out,
        write_backs(facts, nodes, trips) if effects.write_backs else (0.0, 0.0),
    )


def _traffic(
    facts: KernelFacts,
    machine: Machine,
    where: Spread,
    everywhere: Evaluator | None,
    trips: Sequence[Trips],
    *,
    come_to: Mapping[int, float],
    effects: Effects,
) -> tuple[list[Access], Sharing]:
    if facts.ttgir is None or everywhere is None:
        return [], Sharing(1.0, 1.0, 0.0, 0.0, None, known=False)
    programs, running = together(where, machine.xcds)
    # In a small launch, the sampled workgroups are equal to the workgroups that run together: all of the launch.
    alike = programs == everywhere.programs
    evaluator = everywhere
    if not alike:
        evaluator = Evaluator(facts.ttgir, facts.arguments, programs, where.grid, facts.contents)
    times: dict[int | None, float] = {None: 1.0}
    outer = {t.operation.loop for t in trips if t.operation is not None}
    for mine in trips:
        if mine.operation is not None:
            # Workgroups that start together execute their innermost loops in step, so the first iteration is compared.
            innermost = mine.operation.index not in outer
            evaluator.enter(mine.operation, first=innermost)
            everywhere.enter(mine.operation, first=innermost)
            times[mine.operation.index] = times.get(mine.operation.loop, 1.0) * mine.written
    for loop in facts.ttgir.operations:
        # A loop that the compiler fully unrolled is missing in the assembly, but its loads still count.
        if loop.is_loop and loop.index not in times and (iterations := everywhere.trips(loop)) is not None:
            everywhere.enter(loop, first=True)
            evaluator.enter(loop, first=True)
            mean = iterations if isinstance(iterations, int) else sum(iterations) / len(iterations)
            times[loop.index] = times.get(loop.loop, 1.0) * mean
    l2, mall = machine.cache_bytes("l2"), machine.cache_bytes("mall")
    each = machine.xcds / max(1, running) if effects.overlapping_loads else 0.0
    held = l2 * each, (mall or l2 * machine.xcds) * each / machine.xcds
    every = accesses(facts, everywhere, times, come_to, wrapped=effects.wrapped_rows, held=held)
    found = every
    if not alike:
        found = accesses(facts, evaluator, times, come_to, wrapped=effects.wrapped_rows, spans=False, held=held)
    if effects.rare_branches:
        every, found = one_side(every, everywhere, come_to), one_side(found, evaluator, come_to)
    different = footprint(every, len(everywhere.programs), where.total)
    shared = sharing(found, machine.xcds, running, machine.channels, mall)
    shared = within_caches(shared, different, where.total, (l2, mall or l2), machine.xcds)
    if effects.l2_reuse and shared.known and where.total == len(programs):
        on_xcd = of_one_xcd(found, evaluator, facts.arguments, times, machine.xcds)
        shared = within_l2(shared, on_xcd, where.total, l2, machine.xcds)
    contended = on_one_address(facts, everywhere, times, where.total) if effects.contention else 0.0
    return found, replace(shared, contended=contended)


def _executed(facts: KernelFacts, machine: Machine, where: Spread, trips: Mapping[int, Trips]) -> CodeTraffic:
    """Return the accesses of a kernel without a TTGIR, for the workgroups that run together."""
    if not where.known:
        return CodeTraffic([], [], {}, {})
    programs, _ = together(where, machine.xcds)
    lanes = int(machine.figures["lane_addresses"])
    request = machine.figures["request_bytes"]
    return code_traffic(
        facts, programs, samples(where), where.grid, trips, request=request, line=_l1_line(machine), together=lanes
    )


def _code_sharing(executed: CodeTraffic, machine: Machine, where: Spread) -> Sharing:
    """Return the sharing of a kernel without a TTGIR."""
    _, running = together(where, machine.xcds)
    l2, mall = machine.cache_bytes("l2"), machine.cache_bytes("mall")
    shared = sharing(executed.accesses, machine.xcds, running, machine.channels, mall)
    different = footprint(executed.spread_out, len(samples(where)), where.total)
    return within_caches(shared, different, where.total, (l2, mall or l2), machine.xcds)


def _l1_line(machine: Machine) -> float:
    """Return the line size of the vector cache in bytes, or the minimum request to L2 if the size is unknown."""
    level = (machine.product.memory if machine.product is not None else machine.arch.memory).get("l1")
    return (level.line_bytes if level is not None else None) or machine.figures["request_bytes"]


def simulate(model: KernelModel, groups: int, engine: Callable[..., Simulator] = Simulator) -> Run:
    """Simulate ``groups`` workgroups on a CU to their end; ``engine`` creates the simulator."""
    machine = model.machine
    waves = model.waves
    iterations = _iterations(model, groups * waves)
    on_simd = groups * waves / machine.simds if model.apart else groups * waves
    steps = lay_out(model.nodes, model.code, split_barriers(model.facts.program), iterations, model.effects)
    setting = SimulationInput(
        paths=model.paths,
        issue=machine.issue,
        branch=machine.branch,
        counters=len(model.code.counters),
        results=model.code.results,
        positions=len(model.facts.program.instructions),
        stagger=machine.figures["stagger"] * len(steps) * machine.issue / groups,
        blocking_matrix=not machine.matrix_unit,
        queues=(machine.figures["lds_queue"], machine.figures["l1_queue"]),
        skew=(model.simds - 1) / (2 * model.simds),
        simds=machine.simds if model.apart else 1,
        in_flight=machine.figures["in_flight_bytes"] or inf,
        spans={node.loop.index: span_of(node) for node in loops_of(model.nodes)},
    )
    simulator = engine(steps, groups, waves, setting)
    result = simulator.run()
    length, steady = _lengths(result, iterations)

    def alone() -> Mapping[int, float]:
        assert model.l2_paths is not None
        return _lengths(Simulator(steps, groups, waves, replace(setting, paths=model.l2_paths)).run(), iterations)[0]

    powered = length | _pooled(model, length, groups * waves, alone)
    if model.effects.matrix_power:
        for node in loops_of(model.nodes):
            number = node.loop.index
            # Matrix instructions in a branch are added to the instructions of the loop that contains the branch.
            own = [] if isinstance(node, BranchNode) else [p for p in node.body if isinstance(p, range | BranchNode)]
            limit = on_simd * matrix_cycles_of(model, own, 1.0)[1]
            if length.get(number) and limit:
                powered[number] = soft_max(powered[number], limit, model.machine.figures["overlap"])
    lengths = {loop: (iterations[loop], length.get(loop, 0.0), powered.get(loop, 0.0)) for loop in iterations}
    each = [_unsimulated_cycles(model.nodes, model.trips, lengths, n) for n in (-1, *_different(model))]
    cycles = result.cycles + each[0]
    longest = result.cycles + max(each)
    return Run(result, cycles, longest, iterations, length, powered, on_simd, groups * waves, frozenset(steady))


def _lengths(result: SimulationResult, iterations: Mapping[int, int]) -> tuple[dict[int, float], set[int]]:
    """Return the cycles per iteration of each loop, and the set of loops whose last iterations were equally long."""
    length: dict[int, float] = {}
    steady: set[int] = set()
    for loop, measured in result.iterations.items():
        times = [t for t in measured.times if len(t) == iterations[loop] + 1]
        length[loop], is_steady = _mean_of_second_half(times)
        if is_steady:
            steady.add(loop)
    return length, steady


def _pooled(
    model: KernelModel, length: Mapping[int, float], wavefronts: int, alone: Callable[[], Mapping[int, float]]
) -> dict[int, float]:
    """Return the cycles per iteration of the loops that are faster because CUs do not load in step.

    The simulator limits each CU to its share of the bandwidth beyond L2 at every moment, as if all CUs loaded in step.
    In long loops the CUs fall out of step: one CU can use more than its share while another computes. The total
    bandwidth stays the same, so an iteration takes at least its bytes divided by the CU's share.

    Args:
        model: the kernel.
        length: cycles of an iteration of each loop when each CU is limited to its share at every moment.
        wavefronts: simulated wavefronts.
        alone: function that returns the cycles per iteration of each loop if only the path from L2 to the CU limits
            loads.
    """
    if model.l2_paths is None:
        return {}
    bounds: dict[int, float] = {}
    for node in loops_of(model.nodes):
        if all(isinstance(part, range) for part in node.body) and not isinstance(node, BranchNode):
            ops = (model.code.ops[i] for part in node.body if isinstance(part, range) for i in part)
            loaded = wavefronts * sum(op[DELAY] for op in ops if op[KIND] == VMEM and op[WHICH] in {LOAD, STREAMED})
            bound = loaded * model.paths[LOAD].cycles_per_byte
            # A loop that already takes as long as its loads at the CU's share cannot become faster.
            if length.get(node.loop.index, 0.0) > model.machine.figures["saturated"] * bound > 0:
                bounds[node.loop.index] = bound
    if not bounds:
        return {}
    free = alone()
    sharpness = model.machine.figures["overlap"]
    return {loop: min(length[loop], soft_max(free[loop], bound, sharpness)) for loop, bound in bounds.items()}


def _different(model: KernelModel) -> Iterable[int]:
    """Return one workgroup for each distinct combination of loop iterations.

    The result is empty if no loop has a separate number of iterations for each workgroup.
    """
    iterations = zip(*(t.each for t in model.trips.values() if t.each), strict=True)
    return {counts: number for number, counts in enumerate(iterations)}.values()


def soft_max(one: float, other: float, sharpness: float) -> float:
    """Return a smooth maximum of two numbers. If they are close, it is slightly larger than both."""
    top = max(one, other)
    return top * ((one / top) ** sharpness + (other / top) ** sharpness) ** (1 / sharpness) if top else 0.0


def _iterations(model: KernelModel, waves: int) -> dict[int, int]:
    """Return the number of iterations to simulate: several for each innermost loop, one for each loop around them."""
    loops = loops_of(model.nodes)
    inner = [n for n in loops if not any(isinstance(b, LoopNode) for b in n.body)]
    budget = _STEPS / max(1, len(inner)) / waves
    iterations: dict[int, int] = {}
    for node in loops:
        count = 1
        if node in inner:
            size = sum(len(part) for part in node.body if isinstance(part, range))
            possible = int(budget / max(1, size))
            count = min(
                _MOST_ITERATIONS, max(_FEWEST_ITERATIONS if 2 * possible >= _FEWEST_ITERATIONS else 2, possible)
            )
        trips = model.trips[node.loop.index].mean
        iterations[node.loop.index] = min(count, max(0, round(trips + 0.4999)))
    return iterations


def _mean_of_second_half(times: Sequence[Sequence[float]]) -> tuple[float, bool]:
    """Return the mean cycles per iteration in the second half of the simulated iterations.

    Also return whether the last two iterations took the same time, within 5 %.
    """
    if not times or len(times[0]) < 2:
        return 0.0, False
    count = len(times[0]) - 1
    middle = count // 2
    mean = sum(t[-1] - t[middle] for t in times) / len(times) / (count - middle)
    if count < 3:
        return mean, False
    last = sum(t[-1] - t[-2] for t in times) / len(times)
    before = sum(t[-2] - t[-3] for t in times) / len(times)
    return mean, abs(last - before) <= 0.05 * max(last, before)


def _unsimulated_cycles(
    nodes: Sequence[Node], trips: Mapping[int, Trips], lengths: Mapping[int, tuple[int, float, float]], number: int
) -> float:
    """Return the cycles to add to the simulation for all iterations that were not simulated.

    Args:
        nodes: the outline.
        trips: iterations of its loops.
        lengths: for each loop the simulated iterations, the cycles per iteration, and those after the power limit.
        number: index of the workgroup; -1 for the mean over all workgroups.
    """
    total = 0.0
    for node in nodes:
        if isinstance(node, LoopNode) and lengths[node.loop.index][0]:
            done, length, powered = lengths[node.loop.index]
            mine = trips[node.loop.index]
            wanted = mine.mean if number < 0 or not mine.each else mine.each[number]
            total += wanted * (powered + _unsimulated_cycles(node.body, trips, lengths, number)) - done * length
    return total
