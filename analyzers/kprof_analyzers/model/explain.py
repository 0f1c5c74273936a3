"""Convert a simulation's result to a prediction: time, causes, loops and source lines."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import ceil
from operator import add, sub

from kprof.analysis import KernelFacts
from kprof.document import Bound, LoopPrediction, Prediction
from kprof.inputs.amdgcn import InstructionClass
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import strides
from kprof_analyzers.memory.dataflow import GLOBAL_STORES, is_load
from kprof_analyzers.model.caches_before import events_us, hidden_cycles, interval_us, launch_us, written_back
from kprof_analyzers.model.contention import waiting_cycles
from kprof_analyzers.model.machine import Machine
from kprof_analyzers.model.outline import BranchNode, LoopNode, Node
from kprof_analyzers.model.program import DELAY, KIND, LDS, LOAD, SCRATCH, STREAMED, VMEM, WHICH
from kprof_analyzers.model.ranges import bounds, ranges, sort_of
from kprof_analyzers.model.runs import KernelModel, Run, matrix_cycles
from kprof_analyzers.model.simulate import CAUSE_COUNT, CAUSES
from kprof_analyzers.model.slow_ways import large_angles, large_soft_caps
from kprof_analyzers.model.write_backs import delayed, queue_cycles
from kprof_analyzers.registers.scratch import KEPT, assigned


def unknown_strides(facts: KernelFacts) -> list[str]:
    """Return one sentence that names the arguments with unknown strides, or an empty list if there are none.

    Elements whose distance is unknown are assumed to be adjacent. If one axis of a tile is known to be contiguous, the
    other axis's stride changes little and is not named.
    """
    if facts.ttgir is None:
        return []
    names = sorted({name for op in facts.ttgir.operations for name in _names(op, facts)})
    if not names:
        return []
    said = f"strides {', '.join(names)} are" if len(names) > 1 else f"stride {names[0]} is"
    return [f"the {said} not known: elements are assumed to be adjacent"]


def _names(op: Operation, facts: KernelFacts) -> Iterator[str]:
    if not is_load(op) and op.name not in GLOBAL_STORES:
        return
    steps = [step for step in (strides(op) or {}).values() if step is not None]
    values = [step.value(facts.arguments) for step in steps]
    if None not in values or any(value is not None and abs(value) == 1 for value in values):
        return
    for step in steps:
        yield from (name for name in step.symbols if name not in facts.arguments)


def explain(
    model: KernelModel, run: Run, cycles: float, loops: list[LoopPrediction], *, exposed: float = 0.0
) -> Prediction:
    """Return the prediction of a launch.

    Args:
        model: the kernel.
        run: its simulation.
        cycles: cycles of the launch without memory limits and overheads.
        loops: predictions of its loops.
        exposed: cycles in which the launch's first and last workgroups leave the memory system idle.
    """
    machine, where = model.machine, model.where
    rounds = where.rounds + (where.last / where.resident if where.last else 0.0)
    capped, shares = _with_memory_limits(model, run, cycles, rounds, exposed)
    us = capped / machine.clock_mhz
    condition = model.facts.condition
    overhead = launch_us(condition, machine) if model.effects.launch_overhead else 0.0
    shares = _extended_shares(shares, "launch", us, us + overhead)
    us += overhead
    light = _speed_of_light(model)
    if light > us:
        # The Infinity Cache's share of loads is a rough estimate. It must not lead to a time below the speed of light.
        shares = _extended_shares(shares, "memory bandwidth", us, light)
        us = light
    known = where.known and machine.product is not None
    known_trips = all(loop.trips_known for loop in loops)
    sure = ranges()[sort_of(shares, trips_known=known_trips, arch=machine.arch.name)]
    low, high = bounds(us, light, sure.low, sure.high)
    # Lines may be written back while wavefronts compute, which the predicted time does not assume.
    hidden = hidden_cycles(_written_back_cycles(model), capped, _memory_cycles(model)) / machine.clock_mhz
    low = min(low, bounds(us - hidden, light, sure.low, sure.high)[0])
    # Timing events add the same overhead to every launch, so it is not part of the uncertain range.
    events = events_us(condition, machine) if model.effects.launch_overhead else 0.0
    added = events + (interval_us(condition, machine, us) if model.effects.launch_overhead else 0.0)
    shares = _extended_shares(shares, "launch", us, us + added)
    us, low, high = us + added, low + added, high + added + _assignment_us(model)
    bound: Bound = max(shares, key=shares.__getitem__) if shares else "issue"  # type: ignore[arg-type]
    return Prediction(
        time_us=us if known else None,
        low_us=low if known else None,
        high_us=high if known else None,
        cycles=capped,
        bound=bound,
        shares={k: round(v, 4) for k, v in sorted(shares.items(), key=lambda item: -item[1])},
        loops=loops,
        speed_of_light_us=light if known and light else None,
        speed_of_light_percent=100 * light / us if known and light and us else None,
        traffic=_bytes(model),
        workgroups=where.total if where.known else None,
        workgroups_per_cu=where.resident,
        waves_per_simd=ceil(run.waves),
        rounds=rounds,
        clock_mhz=machine.clock_mhz,
        condition=condition.name,
        events_us=events if known else None,
        assumptions=assumptions(model, loops),
        notes=[*_notes(model, run), *([f"wide range: {sure.why}"] if known and sure.why else [])],
    )


def _with_memory_limits(
    model: KernelModel, run: Run, cycles: float, rounds: float, exposed: float
) -> tuple[float, dict[str, float]]:
    """Return the cycles of a launch after applying the memory limits, and the share of each cause in these cycles."""
    spent = _causes(model, run)
    whole = sum(spent.values()) or 1.0
    shares = {cause: value / whole for cause, value in spent.items() if value > 0}
    peak = matrix_cycles(model)[0] * run.waves * rounds
    shares = _at_least(shares, "matrix", min(1.0, peak / cycles) if cycles else 0.0)
    capped = cycles
    memory = max(_memory_cycles(model) + exposed, cycles) + _written_back_cycles(model)
    if memory > capped:
        shares = _extended_shares(shares, "memory bandwidth", capped, memory)
        capped = memory
    waiting = max(waiting_cycles(model.machine, model.sharing.contended), _delayed_cycles(model, capped, rounds))
    if waiting > capped:
        shares = _extended_shares(shares, "memory latency", capped, waiting)
        capped = waiting
    return capped, shares


def _delayed_cycles(model: KernelModel, cycles: float, rounds: float) -> float:
    """Return the cycles of the launch with its write-backs of L2; ``cycles`` is without them."""
    each, waves = model.write_backs
    return delayed(cycles, queue_cycles(model.machine, each * model.where.total), rounds * waves)


def _speed_of_light(model: KernelModel) -> float:
    """Return the speed of light: the microseconds if the matrix units or the memory run at their peak throughout."""
    machine, where = model.machine, model.where
    units = machine.units or 1
    warps = model.facts.resources.num_warps
    warps = warps if isinstance(warps, int) else 4
    matrix = matrix_cycles(model)[0] * warps * where.total / (units * machine.simds) / machine.clock_mhz
    shared = model.sharing
    once = min(shared.footprint if shared.footprint is not None else 0.0, shared.loaded * where.total)
    moved = once + shared.stored * where.total + _bytes(model).get("written_back", 0.0)
    if shared.stored_beyond or not machine.cache_bytes("mall"):
        return max(matrix, _at_peak(machine, "hbm", moved))
    # All bytes pass through the Infinity Cache and are limited by its bandwidth. Loads that bypass it are additionally
    # limited by memory.
    passed = model.passing.loaded * once if shared.beyond_mall else 0.0
    return max(matrix, _at_peak(machine, "mall", moved), _at_peak(machine, "hbm", passed))


def _at_peak(machine: Machine, name: str, moved: float) -> float:
    """Return the microseconds to move bytes at a memory level's peak bandwidth, or 0 if the peak is unknown."""
    level = machine.product.memory.get(name) if machine.product is not None else None
    peak = level.bandwidth_gbs or level.sustained_gbs if level is not None else None
    return moved / (peak * 1e3) if peak else 0.0


def _at_least(shares: dict[str, float], cause: str, least: float) -> dict[str, float]:
    """Return the shares of the time by cause, with ``cause`` raised to at least ``least`` and others scaled down."""
    have = shares.get(cause, 0.0)
    if have >= least:
        return shares
    rest = 1 - have
    scaled = {name: value * (1 - least) / rest for name, value in shares.items()} if rest else {}
    scaled[cause] = least
    return scaled


def _extended_shares(shares: dict[str, float], cause: str, before: float, after: float) -> dict[str, float]:
    """Return the shares of the time by cause, after ``cause`` has extended the time from ``before`` to ``after``."""
    if after <= before or not after:
        return shares
    scaled = {name: value * before / after for name, value in shares.items()}
    scaled[cause] = scaled.get(cause, 0.0) + (after - before) / after
    return scaled


def _memory_cycles(model: KernelModel) -> float:
    """Return the cycles that the launch's bytes take at the sustained memory bandwidth."""
    units = model.machine.units
    if not model.effects.vector_memory or units is None:
        return 0.0
    # If no store reaches memory, the Infinity Cache keeps all stored lines, and memory only serves loads that miss it.
    levels = ("hbm",) if model.sharing.stored_beyond else ("mall", "hbm")
    moved, rates = _bytes(model), model.machine.level_bytes
    return max((moved[level] / (rates[level] * units) for level in levels if level in rates), default=0.0)


def _written_back_cycles(model: KernelModel) -> float:
    """Return the cycles for writing back earlier kernels' dirty lines from the last-level cache to memory."""
    rate = model.machine.level_bytes.get("hbm")
    if rate is None or not model.effects.vector_memory or model.machine.units is None:
        return 0.0
    return _bytes(model).get("written_back", 0.0) / (rate * model.machine.units)


def _bytes(model: KernelModel) -> dict[str, float]:
    shared, total = model.sharing, model.where.total
    near = shared.beyond_l2 if model.effects.l2_traffic else 1.0
    far = shared.beyond_mall if model.effects.l2_traffic else 1.0
    loaded, stored = shared.loaded * total, shared.stored * total
    beyond = near * loaded + stored
    distant = far * loaded + shared.stored_beyond * stored
    found = {"l2": loaded + stored, "hbm": distant if "mall" in model.machine.level_bytes else beyond}
    if "mall" in model.machine.level_bytes:
        found["mall"] = beyond
    kept_out = model.passing.loaded * far * loaded + model.passing.stored * shared.stored_beyond * stored
    if kept_out:
        found["passing"] = kept_out
    if dirty := written_back(model.facts.condition, model.machine, max(0.0, found["hbm"] - kept_out)):
        found["written_back"] = dirty
    if spilled := _spilled(model, model.nodes, 1.0):
        found["scratch"] = spilled * total
    return found


def _spilled(model: KernelModel, nodes: Sequence[Node], times: float) -> float:
    """Return the bytes of scratch memory that a workgroup loads and stores in a part of the program."""
    moved = 0.0
    warps = model.facts.resources.num_warps
    waves = warps if isinstance(warps, int) else 4
    for node in nodes:
        if isinstance(node, LoopNode):
            moved += _spilled(model, node.body, times * model.trips[node.loop.index].mean)
        else:
            ops = [op for op in model.code.ops[node.start : node.stop] if op[KIND] == VMEM and op[WHICH] == SCRATCH]
            moved += times * waves * sum(op[DELAY] / model.simds for op in ops)
    return moved


def _times(model: KernelModel, run: Run, nodes: Sequence[Node], factor: float) -> Iterator[tuple[range, float]]:
    """Yield straight-line stretches of instructions, each with a factor.

    The factor converts simulated cycles of the stretch to cycles with all its executions in the launch.
    """
    for node in nodes:
        if isinstance(node, LoopNode):
            done = run.iterations[node.loop.index]
            if done:
                yield from _times(model, run, node.body, factor * model.trips[node.loop.index].mean / done)
        else:
            yield node, factor


def _causes(model: KernelModel, run: Run) -> dict[str, float]:
    totals = [0.0] * CAUSE_COUNT
    spent = run.result.spent
    for part, factor in _times(model, run, model.nodes, 1.0):
        for cause in range(CAUSE_COUNT):
            totals[cause] += factor * sum(
                spent[CAUSE_COUNT * part.start + cause : CAUSE_COUNT * part.stop : CAUSE_COUNT]
            )
    for node, times in _loops_of(model, model.nodes, 1.0):
        # The power limit makes iterations longer than simulated, and CUs that are out of step make them shorter.
        loop = node.loop.index
        more = run.powered.get(loop, 0.0) - run.length.get(loop, 0.0)
        cause = CAUSES.index(_corrected_cause(more))
        totals[cause] = max(0.0, totals[cause] + times * run.simulated * more)
    return dict(zip(CAUSES, totals, strict=True))


def _loops_of(model: KernelModel, nodes: Sequence[Node], entries: float) -> Iterator[tuple[LoopNode, float]]:
    """Yield every loop with the total number of iterations that a wavefront executes."""
    for node in nodes:
        if isinstance(node, LoopNode):
            iterations = entries * model.trips[node.loop.index].mean
            yield node, iterations
            yield from _loops_of(model, node.body, iterations)


def loop_predictions(model: KernelModel, run: Run) -> list[LoopPrediction]:
    """Return the predictions of all loops of the outline, outer before inner."""
    found: list[LoopPrediction] = []
    _loops(model, run, model.nodes, 1.0, found)
    return found


def _loops(model: KernelModel, run: Run, nodes: Sequence[Node], entries: float, found: list[LoopPrediction]) -> None:
    for node in nodes:
        if not isinstance(node, LoopNode):
            continue
        trips = model.trips[node.loop.index]
        if not isinstance(node, BranchNode):
            found.append(_loop(model, run, node, entries))
        _loops(model, run, node.body, entries * trips.mean, found)


def _own_stretches(model: KernelModel, node: LoopNode) -> Iterator[tuple[range, float]]:
    """Yield a loop's stretches of instructions outside inner loops, with the share of iterations that execute each."""
    for part in node.body:
        if isinstance(part, range):
            yield part, 1.0
        elif isinstance(part, BranchNode):
            yield from ((inner, model.trips[part.loop.index].mean) for inner, _ in _own_stretches(model, part))


def _corrected_cause(more: float) -> str:
    """Return the cause whose cycles are corrected after the simulation: increased if ``more`` > 0, else reduced."""
    return "matrix" if more > 0 else "memory bandwidth"


def _loop(model: KernelModel, run: Run, node: LoopNode, entries: float) -> LoopPrediction:
    number = node.loop.index
    trips = model.trips[number]
    facts = next((f for f in model.facts.loops if f.header == node.loop.header), None)
    causes: dict[str, float] = defaultdict(float)
    lines: dict[str, float] = defaultdict(float)
    iterations = run.result.iterations.get(number)
    length = 0.0
    share = 0.0
    if iterations is not None and iterations.end:
        before = iterations.middle or [0.0] * len(iterations.end)
        done = max(1, run.iterations[number] - run.iterations[number] // 2)
        waves = len(iterations.times)
        for part, share_of in _own_stretches(model, node):
            own = range(part.start - iterations.first, part.stop - iterations.first)
            by_cause = {
                cause: [share_of * cycles for cycles in _spent(iterations.end, before, own, cause)]
                for cause in range(CAUSE_COUNT)
            }
            for cause, cycles in by_cause.items():
                causes[CAUSES[cause]] += sum(cycles) / done / waves
            for place, took in _by_line(model, part, _added([c for c in by_cause.values() if c], len(part))).items():
                lines[place] += took / done / waves
        if number in run.powered:
            more = run.powered[number] - run.length[number]
            causes[_corrected_cause(more)] = max(0.0, causes[_corrected_cause(more)] + more)
        length = sum(causes.values())
        if len(iterations.busy) > 1:
            (begun, matrix, _), (ended, after, _) = iterations.busy[0], iterations.busy[-1]
            share = min(1.0, (after - matrix) / (ended - begun)) if ended > begun else 0.0
    return LoopPrediction(
        header=node.loop.header,
        trips=trips.mean,
        trips_known=trips.known,
        trips_from=trips.source,
        cycles_per_iteration=run.powered.get(number, length)
        if not any(isinstance(n, LoopNode) for n in node.body)
        else length,
        lines=facts.lines if facts is not None else {},
        entries=entries,
        causes={k: round(v, 1) for k, v in sorted(causes.items(), key=lambda item: -item[1]) if v},
        by_line={k: round(v, 1) for k, v in sorted(lines.items(), key=lambda item: -item[1])},
        matrix_share=round(share, 4),
        steady=number in run.steady,
        missing=list(trips.missing),
        elements_per_iteration=trips.elements,
    )


def _spent(end: Sequence[float], before: Sequence[float], part: range, cause: int) -> list[float]:
    """Return the cycles that each instruction spent for one cause between two moments of the simulation.

    The result is empty if all are 0, as for most causes.
    """
    at = slice(CAUSE_COUNT * part.start + cause, CAUSE_COUNT * part.stop, CAUSE_COUNT)
    until = end[at]
    return list(map(sub, until, before[at])) if any(until) else []


def _added(columns: Sequence[list[float]], length: int) -> list[float]:
    """Return the element-wise sum of columns."""
    total = columns[0] if columns else [0.0] * length
    for column in columns[1:]:
        total = list(map(add, total, column))
    return total


def _by_line(model: KernelModel, part: range, cycles: Sequence[float]) -> dict[str, float]:
    """Return the cycles of a stretch of instructions by ``file:line``."""
    instructions = model.facts.program.instructions
    # Instructions of one .loc directive share a source location, which is resolved once.
    sums: dict[int, float] = {}
    first: dict[int, int] = {}
    for i, spent in zip(part, cycles, strict=True):
        if spent:
            source = id(instructions[i].source)
            sums[source] = sums.get(source, 0.0) + spent
            first.setdefault(source, i)
    found: dict[str, float] = defaultdict(float)
    for number, spent in sums.items():
        frame = instructions[first[number]].user_frame
        found[f"{frame.file.rpartition('/')[2]}:{frame.line}" if frame is not None else "?"] += spent
    return found


def _notes(model: KernelModel, run: Run) -> list[str]:
    limited = [n for n in run.powered if run.powered[n] > 1.05 * run.length.get(n, 0.0) > 0]
    if not limited:
        return []
    peak, sustained = matrix_cycles(model)
    share = f"{100 * peak / sustained:.0f} %"
    return [f"power limit: the matrix units are assumed to sustain {share} of their peak when all of them are busy"]


def assumptions(model: KernelModel, loops: Sequence[LoopPrediction]) -> list[str]:
    """Return a sentence for each unknown property of a launch and the value assumed for it."""
    found = [*model.machine.assumptions, *model.where.assumptions]
    unknown = (loop for loop in loops if not loop.trips_known)
    found += [f"loop {loop.header}: {loop.trips:g} iterations {loop.trips_from}" for loop in unknown]
    uses_lds = any(op[KIND] == LDS for op in model.code.ops)
    if uses_lds and model.facts.ttgir is not None and not model.machine.arch.lds.phases:
        found.append(f"bank conflicts are not known on {model.machine.arch.name}: none are assumed")
    found += large_angles(model.facts.program)
    found += large_soft_caps(model.facts.program)
    if any(i.opcode.is_atomic and i.opcode.cls is InstructionClass.VMEM for i in model.facts.program.instructions):
        found.append(_contention(model))
        found += _write_backs(model)
    return [*found, *unknown_strides(model.facts), *_guessed_sharing(model), *_kept_scratch(model)]


def _contention(model: KernelModel) -> str:
    count = model.sharing.contended
    if model.machine.xcds > 1 and count > 1:
        each = waiting_cycles(model.machine, 1.0) / model.machine.clock_mhz * 1e3
        return f"the {count:,.0f} atomics on one address wait for each other, {each:.0f} ns each"
    return "atomics on one address are assumed not to wait for each other"


def _write_backs(model: KernelModel) -> list[str]:
    """Return one sentence on the cost of a launch's write-backs of L2, or an empty list if the launch has none."""
    count = model.write_backs[0] * model.where.total
    each = model.machine.figures["write_back_ns"]
    if not count:
        return []
    if not each:
        name = model.machine.arch.name
        return [f"the cost of L2 write-backs before atomics on {name} is not known: none is assumed"]
    return [f"an L2 does its share of the {count:,.0f} write-backs before atomics one by one, {each:.0f} ns each"]


def _reclaimed_scratch(model: KernelModel) -> int:
    """Return the bytes of a launch's scratch memory if ROCr may take it back after each launch; otherwise 0."""
    product = model.machine.product
    scratch = assigned(model.facts, product.compute_units if product is not None else None)
    return 0 if scratch is None or scratch <= KEPT else scratch


def _assignment_us(model: KernelModel) -> float:
    """Return the microseconds that a launch may wait until the host has assigned its scratch memory."""
    counts = model.effects.launch_overhead and _reclaimed_scratch(model)
    return model.machine.figures["scratch_assignment_ns"] / 1e3 if counts else 0.0


def _kept_scratch(model: KernelModel) -> list[str]:
    scratch = _reclaimed_scratch(model)
    if not scratch:
        return []
    kept = f"{scratch / 2**20:,.0f} MiB of scratch stay assigned between launches (HSA_NO_SCRATCH_RECLAIM=1 keeps it)"
    wait = model.machine.figures["scratch_assignment_ns"] / 1e3
    return [f"{kept}; otherwise each launch may wait about {wait:,.0f} µs for the host"]


def _guessed_sharing(model: KernelModel) -> list[str]:
    """Return one sentence on where loads with unknown addresses are assumed to find data; empty without such loads."""
    shared = model.sharing
    if shared.known or not any(op[KIND] == VMEM and op[WHICH] in {LOAD, STREAMED} for op in model.code.ops):
        return []
    count, unknown = shared.loads
    if count > unknown:
        some = f"which tiles workgroups share is not known of {unknown} of {count} loads"
        return [f"{some}: they are assumed to come from the same levels as the others"]
    where = "memory" if shared.beyond_mall else "the Infinity Cache, where the launch before left it"
    return [f"which tiles workgroups share is not known: every load is assumed to come from {where}"]
