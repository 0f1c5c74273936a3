"""Compute the gain of fixing a finding: model the launch again without the effect that the finding reports."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from kprof.analysis import KernelFacts, ModelChange
from kprof.document import Prediction
from kprof.errors import KprofError
from kprof.findings import Finding, Gain
from kprof_analyzers.model.caches_before import events_us, found, launch_us
from kprof_analyzers.model.explain import explain
from kprof_analyzers.model.fetched import fetched_shares
from kprof_analyzers.model.kernel import launch_cycles, simulate
from kprof_analyzers.model.launch import spread, together
from kprof_analyzers.model.lds import conflict_shares
from kprof_analyzers.model.machine import Machine
from kprof_analyzers.model.memory import memory_paths
from kprof_analyzers.model.program import IDLE, KIND, LDS, Code, Op, Translator
from kprof_analyzers.model.runs import KernelModel
from kprof_analyzers.model.setting import MemoryPath
from kprof_analyzers.model.traffic import sharing, within_caches
from kprof_analyzers.occupancy import from_kernel

_MOST = 12
"""Maximum number of changes that are modelled for one kernel."""
_GONE: Op = (IDLE, 0.0, (), 0.0, 0, 0)


def costs_of(
    model: KernelModel, prediction: Prediction, findings: Sequence[tuple[Finding, ModelChange | None]]
) -> dict[int, Gain]:
    """Return the gains of fixing findings, by ``id`` of the finding.

    A finding is skipped if its rule names no effect to remove, if the kernel's time is unknown, or if the maximum
    number of distinct changes has been modelled.

    Args:
        model: the kernel as it is.
        prediction: its prediction.
        findings: each finding with the change to the model that removes its effect.
    """
    costs: dict[int, Gain] = {}
    if prediction.time_us is None:
        return costs
    known: dict[str, Gain | None] = {}
    for finding, change in findings:
        if change is None:
            continue
        key = repr(change)
        if key not in known and len(known) < _MOST:
            known[key] = cost_of(model, prediction, change)
        gain = known.get(key)
        if gain is not None:
            costs[id(finding)] = gain
    return costs


def cost_of(model: KernelModel, prediction: Prediction, change: ModelChange) -> Gain | None:
    """Return the cost of an effect, or None if the launch cannot be modelled without it."""
    now = prediction.time_us
    assert now is not None
    after = _time(model, prediction, change)
    if after is None:
        return None
    saved = max(0.0, now - after)
    low, high = ((edge or now) / now for edge in (prediction.low_us, prediction.high_us))
    least = 0.0 if change.at_most else saved * low
    return Gain(
        us=round(saved, 3),
        low_us=round(least, 3),
        high_us=round(min(saved * high, (prediction.high_us or now)), 3),
        share=round(saved / now, 4),
        at_most=change.at_most,
    )


def _time(model: KernelModel, prediction: Prediction, change: ModelChange) -> float | None:
    """Return the predicted microseconds without an effect, or ``None`` if the launch cannot be modelled without it."""
    if change.idle_share is not None:
        others = replace(change, idle_share=None, at_most=False)
        now = prediction.time_us if others == ModelChange() else _time(model, prediction, others)
        if now is None:
            return None
        condition = model.facts.condition
        added = launch_us(condition, model.machine) + events_us(condition, model.machine)
        overhead = min(added, now)
        return max(prediction.speed_of_light_us or 0.0, overhead + (now - overhead) * (1 - change.idle_share))
    try:
        other = without(model, change)
    except KprofError:
        return None
    run = simulate(other, other.where.resident)
    return explain(other, run, launch_cycles(other, run), []).time_us


def without(model: KernelModel, change: ModelChange) -> KernelModel:
    """Return a model of the same kernel without an effect.

    Raises:
        KprofError: if the changed kernel cannot be launched.
    """
    if change.num_warps is not None or change.workgroups_per_cu is not None:
        model = _relaunched(model, change)
    ops = list(model.code.ops)
    for position in change.gone:
        ops[position] = _GONE
    if change.cycles:
        for position, factor in change.cycles.items():
            kind, busy, *rest = ops[position]
            ops[position] = (kind, busy * factor, rest[0], rest[1], rest[2], rest[3])
    for position, op in _retranslated(model, change).items():
        ops[position] = op
    model = replace(model, code=Code(ops, model.code.counters, model.code.results))
    if "memory_latency" in change.leave_out:
        l2_paths = None if model.l2_paths is None else _at_once(model.l2_paths)
        model = replace(model, paths=_at_once(model.paths), l2_paths=l2_paths)
    if "lds_latency" in change.leave_out:
        ops = [(*op[:3], 0.0, *op[4:]) if op[KIND] == LDS else op for op in model.code.ops]
        model = replace(model, code=Code(ops, model.code.counters, model.code.results))
    if "dies_in_turn" in change.leave_out:
        model = _in_blocks(model)
    if "write_backs" in change.leave_out:
        # The cost of contention was fitted on times that include write-backs, so both must be removed together.
        model = replace(model, write_backs=(0.0, 0.0), sharing=replace(model.sharing, contended=0.0))
    if "wave_quantisation" in change.leave_out:
        effects = replace(model.effects, wave_quantisation=False)
        where = spread(model.facts, model.machine, effects)
        model = replace(model, where=where, effects=effects)
    if "matrix_large" in change.leave_out:
        machine: Machine = replace(model.machine, matrix_large=1.0)
        model = replace(model, machine=machine)
    return model


def _at_once(paths: Iterable[MemoryPath]) -> tuple[MemoryPath, ...]:
    return tuple(replace(path, latency=0.0) for path in paths)


def _in_blocks(model: KernelModel) -> KernelModel:
    """Return the model for a grid order that assigns neighbouring workgroups to the same die."""
    machine, facts, where = model.machine, model.facts, model.where
    _, running = together(where, machine.xcds)
    l2, mall = machine.cache_bytes("l2"), machine.cache_bytes("mall")
    shared = sharing(model.accesses, machine.xcds, running, machine.channels, mall, in_blocks=True)
    shared = within_caches(shared, model.sharing.footprint, where.total, (l2, mall or l2), machine.xcds)
    shared = found(facts.condition, shared, where.total, machine, model.passing, tensor_bytes=facts.tensor_bytes)
    paths = memory_paths(facts, machine, model.effects, where, shared)
    l2_paths = None
    if model.l2_paths is not None:
        l2_paths = memory_paths(facts, machine, model.effects, where, shared, near_only=True)
    return replace(model, sharing=shared, paths=paths, l2_paths=l2_paths)


def _retranslated(model: KernelModel, change: ModelChange) -> dict[int, Op]:
    """Return the operations that a change replaces, by position: accesses get another width, or no bank conflicts."""
    if not change.wide and not change.conflict_free:
        return {}
    translator = Translator(
        model.machine,
        model.effects,
        model.simds,
        {},
        fetched_shares(model.facts, model.machine.figures["request_bytes"]),
        followed=model.followed,
    )
    translator.counters = list(model.code.counters)
    found = {}
    for position, width in change.wide.items():
        found[position] = translator.memory_of(model.facts.program.instructions[position], width)
    for position in change.conflict_free:
        if model.code.ops[position][KIND] == LDS:
            found[position] = translator.lds_of(model.facts.program.instructions[position])
    return found


def _relaunched(model: KernelModel, change: ModelChange) -> KernelModel:
    """Return the model for another number of wavefronts per workgroup, or of workgroups per CU."""
    facts: KernelFacts = model.facts
    occupancy, resources = facts.occupancy, facts.resources
    if change.num_warps is not None:
        resources = msgspec.structs.replace(resources, num_warps=change.num_warps)
        lds = resources.lds_bytes if isinstance(resources.lds_bytes, int) else 0
        occupancy = from_kernel(facts.program.registers, lds_bytes=lds, num_warps=change.num_warps, arch=facts.arch)
    if change.workgroups_per_cu is not None and occupancy is not None:
        occupancy = msgspec.structs.replace(occupancy, workgroups_per_cu=change.workgroups_per_cu)
    facts = replace(facts, occupancy=occupancy, resources=resources)
    machine, warps = model.machine, resources.num_warps
    warps = warps if isinstance(warps, int) else 4
    where = spread(facts, machine, model.effects)
    apart = warps < machine.simds
    simds, waves = (1, warps) if apart else (machine.simds, warps // machine.simds)
    code = model.code
    if simds != model.simds:
        translator = Translator(
            machine,
            model.effects,
            simds,
            conflict_shares(facts),
            fetched_shares(facts, machine.figures["request_bytes"]),
            followed=model.followed,
        )
        code = translator.translate(facts.program.instructions)
    paths = memory_paths(facts, machine, model.effects, where, model.sharing)
    return replace(
        model, facts=facts, where=where, apart=apart, simds=simds, waves=waves, code=code, paths=paths, l2_paths=None
    )
