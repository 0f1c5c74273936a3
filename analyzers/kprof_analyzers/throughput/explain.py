"""What a simulation means: time, causes, loops, lines."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kprof.report import Bound, LoopPrediction, Prediction
from kprof_analyzers.throughput.outline import LoopNode, Node
from kprof_analyzers.throughput.simulate import CAUSE_COUNT, CAUSES

if TYPE_CHECKING:
    from kprof_analyzers.throughput.kernel import Model, Run

_POWER = 8.0
# Measured over predicted time of nine in ten.
_LOW, _HIGH = 0.6, 1.7
_UNKNOWN = 3.0


def explain(model: "Model", run: "Run", clocks: float, loops: list[LoopPrediction]) -> Prediction:
    """The prediction of a launch that takes ``clocks``."""
    from kprof_analyzers.throughput.kernel import matrix_clocks

    machine, where = model.machine, model.where
    rounds = where.rounds + (where.last / where.resident if where.last else 0.0)
    spent = _causes(model, run)
    whole = sum(spent.values()) or 1.0
    shares = {cause: value / whole for cause, value in spent.items() if value > 0}
    waves = model.waves * where.resident
    warps = model.facts.resources.num_warps
    if isinstance(warps, int) and warps < machine.simds:
        waves = max(1, -(-where.resident * warps // machine.simds))
    matrix = matrix_clocks(model) * waves * max(rounds, 1.0)
    shares = _at_least(shares, "matrix", min(1.0, matrix / clocks) if clocks else 0.0)
    capped = clocks
    if model.effects.matrix_power and machine.matrix_sustained < 1 and matrix:
        capped = _soft_max(clocks, matrix / machine.matrix_sustained)
        shares = _grown(shares, "matrix", clocks, capped)
    memory = _memory_clocks(model)
    if memory > capped:
        shares = _grown(shares, "memory bandwidth", capped, memory)
        capped = memory
    us = capped / machine.clock_mhz
    overhead = _overhead(model)
    shares = _grown(shares, "launch", us, us + overhead)
    us += overhead
    light = max(matrix / max(rounds, 1e-9) * (where.total / (where.active * where.resident)), 0.0) / machine.clock_mhz
    known = where.known and machine.product is not None
    unknown = any(not loop.trips_known for loop in loops)
    wide = _UNKNOWN if unknown else 1.0
    bound: Bound = max(shares, key=lambda cause: shares[cause]) if shares else "issue"  # type: ignore[assignment]
    return Prediction(
        time_us=us if known else None,
        low_us=us * _LOW / wide if known else None,
        high_us=us * _HIGH * wide if known else None,
        cycles=capped,
        bound=bound,
        shares={k: round(v, 4) for k, v in sorted(shares.items(), key=lambda item: -item[1])},
        loops=loops,
        speed_of_light_us=light if known else None,
        speed_of_light_percent=100 * light / us if known and us else None,
        traffic=_bytes(model),
        workgroups=where.total if where.known else None,
        workgroups_per_cu=where.resident,
        waves_per_simd=waves,
        rounds=rounds,
        clock_mhz=machine.clock_mhz,
        assumptions=_assumptions(model, loops),
        notes=[],
    )


def _overhead(model: "Model") -> float:
    product = model.machine.product
    if not model.effects.launch_overhead or product is None or product.launch_overhead_ns is None:
        return 0.0
    return product.launch_overhead_ns / 1e3


def _soft_max(one: float, other: float) -> float:
    top = max(one, other)
    return top * ((one / top) ** _POWER + (other / top) ** _POWER) ** (1 / _POWER) if top else 0.0


def _at_least(shares: dict[str, float], cause: str, least: float) -> dict[str, float]:
    """The same shares with one cause raised at the others' expense."""
    have = shares.get(cause, 0.0)
    if have >= least:
        return shares
    rest = 1 - have
    scaled = {name: value * (1 - least) / rest for name, value in shares.items()} if rest else {}
    scaled[cause] = least
    return scaled


def _grown(shares: dict[str, float], cause: str, before: float, after: float) -> dict[str, float]:
    """Shares after one cause has made the whole longer."""
    if after <= before or not after:
        return shares
    scaled = {name: value * before / after for name, value in shares.items()}
    scaled[cause] = scaled.get(cause, 0.0) + (after - before) / after
    return scaled


def _memory_clocks(model: "Model") -> float:
    """Clocks that the launch's bytes take from memory at the sustained bandwidth."""
    rate = model.machine.level_bytes.get("hbm")
    if rate is None or not model.effects.vector_memory or model.machine.units is None:
        return 0.0
    return _bytes(model)["hbm"] / (rate * model.machine.units)


def _bytes(model: "Model") -> dict[str, float]:
    shared, total = model.sharing, model.where.total
    near = shared.beyond_l2 if model.effects.l2_traffic else 1.0
    far = shared.beyond_mall if model.effects.l2_traffic else 1.0
    loaded, stored = shared.loaded * total, shared.stored * total
    beyond = near * loaded + stored
    found = {"l2": loaded + stored, "hbm": far * loaded + stored if "mall" in model.machine.level_bytes else beyond}
    if "mall" in model.machine.level_bytes:
        found["mall"] = beyond
    return found


def _times(model: "Model", run: "Run", nodes: Sequence[Node], factor: float) -> Iterator[tuple[range, float]]:
    """Stretches with the factor from what was simulated to what happens."""
    for node in nodes:
        if isinstance(node, LoopNode):
            done = run.turns[node.loop.index]
            if done:
                yield from _times(model, run, node.body, factor * model.trips[node.loop.index].mean / done)
        else:
            yield node, factor


def _causes(model: "Model", run: "Run") -> dict[str, float]:
    totals = [0.0] * CAUSE_COUNT
    spent = run.result.spent
    for part, factor in _times(model, run, model.nodes, 1.0):
        for cause in range(CAUSE_COUNT):
            totals[cause] += factor * sum(
                spent[CAUSE_COUNT * part.start + cause : CAUSE_COUNT * part.stop : CAUSE_COUNT]
            )
    return dict(zip(CAUSES, totals, strict=True))


def loop_predictions(model: "Model", run: "Run") -> list[LoopPrediction]:
    """Every loop of the outline, outer before inner."""
    found: list[LoopPrediction] = []
    _loops(model, run, model.nodes, 1.0, found)
    return found


def _loops(model: "Model", run: "Run", nodes: Sequence[Node], entries: float, found: list[LoopPrediction]) -> None:
    for node in nodes:
        if not isinstance(node, LoopNode):
            continue
        trips = model.trips[node.loop.index]
        found.append(_loop(model, run, node, entries))
        _loops(model, run, node.body, entries * trips.mean, found)


def _loop(model: "Model", run: "Run", node: LoopNode, entries: float) -> LoopPrediction:
    number = node.loop.index
    trips = model.trips[number]
    facts = next((f for f in model.facts.loops if f.header == node.loop.header), None)
    causes: dict[str, float] = defaultdict(float)
    lines: dict[str, float] = defaultdict(float)
    turns = run.result.turns.get(number)
    own = [i for part in node.body if isinstance(part, range) for i in part]
    length = 0.0
    share = 0.0
    if turns is not None and turns.end:
        before = turns.middle or [0.0] * len(turns.end)
        done = max(1, run.turns[number] - run.turns[number] // 2)
        waves = len(turns.times)
        for i in own:
            at = CAUSE_COUNT * i
            now, then = turns.end[at : at + CAUSE_COUNT], before[at : at + CAUSE_COUNT]
            if now == then:
                continue
            frame = model.facts.program.instructions[i].user_frame
            place = f"{frame.file.rpartition('/')[2]}:{frame.line}" if frame is not None else "?"
            for cause, (end, start) in enumerate(zip(now, then, strict=True)):
                causes[CAUSES[cause]] += (end - start) / done / waves
            lines[place] += (sum(now) - sum(then)) / done / waves
        length = sum(causes.values())
        if len(turns.busy) > 1:
            (first, matrix, _), (last, after, _) = turns.busy[0], turns.busy[-1]
            share = min(1.0, (after - matrix) / (last - first)) if last > first else 0.0
    return LoopPrediction(
        header=node.loop.header,
        trips=trips.mean,
        trips_known=trips.known,
        trips_from=trips.source,
        cycles_per_turn=run.length.get(number, length)
        if not any(isinstance(n, LoopNode) for n in node.body)
        else length,
        lines=facts.lines if facts is not None else {},
        entries=entries,
        causes={k: round(v, 1) for k, v in sorted(causes.items(), key=lambda item: -item[1]) if v},
        by_line={k: round(v, 1) for k, v in sorted(lines.items(), key=lambda item: -item[1])},
        matrix_share=round(share, 4),
        steady=number in run.steady,
    )


def _assumptions(model: "Model", loops: Sequence[LoopPrediction]) -> list[str]:
    found = [*model.machine.assumptions, *model.where.assumptions]
    found += [f"loop {loop.header}: {loop.trips:g} turns {loop.trips_from}" for loop in loops if not loop.trips_known]
    if not model.sharing.known:
        found.append("which tiles workgroups share is not known: every load is taken to come from memory")
    return found
