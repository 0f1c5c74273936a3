"""Atomics of many workgroups on one address: on a GPU of several dies each waits for the one before."""

from collections import Counter
from collections.abc import Mapping

from kprof.analysis import KernelFacts
from kprof_analyzers.model.machine import Machine
from kprof_analyzers.model.scalars import Evaluator

ATOMICS = ("tt.atomic_rmw", "tt.atomic_cas", "amdg.buffer_atomic_rmw", "amdg.buffer_atomic_cas")


def on_one_address(facts: KernelFacts, evaluator: Evaluator, times: Mapping[int | None, float], total: int) -> float:
    """Atomics of a launch on the address that has most of them, as far as addresses are known.

    Args:
        facts: the kernel.
        evaluator: for workgroups spread over the launch.
        times: TTGIR loop (``None``: outside all) to how often its body is done by a workgroup.
        total: workgroups of the launch.
    """
    assert facts.ttgir is not None
    most = 0.0
    for op in facts.ttgir.operations:
        if op.name not in ATOMICS:
            continue
        evaluator.inside(op.loop)
        corner = evaluator.corner(op)
        if corner is None:
            continue
        share = 1.0 if isinstance(corner, int) else max(Counter(corner).values()) / len(corner)
        # Of workgroups that are all elsewhere, none shares its address with another.
        alone = not isinstance(corner, int) and share * len(corner) <= 1
        most = max(most, times.get(op.loop, 1.0) * (1.0 if alone else share * total))
    return most


def waiting_cycles(machine: Machine, atomics: float) -> float:
    """Cycles that so many atomics on one address take, one after the other.

    Dies have an L2 each, so that the line is changed behind it: each takes the way there and back. Measured of a kernel
    whose 524,288 workgroups add to the same 80 lines on an MI350X: 255 ns each, 241 ns of 7,892 workgroups
    (SOL-ExecBench-ROCm, the problem ``fused_residual_rms_norm_backward``); the last-level cache answers after 218 ns.
    One problem says so. Of a single die L2 does them one after the other without leaving it, which is not modelled.

    These times contain the write-backs of L2, too (see :mod:`kprof_analyzers.model.write_backs`). Of the histogram that
    ``write_back_ns`` is fitted on, each workgroup adds 84 ns in all, so that 218 ns is an upper bound. How long atomics
    with relaxed semantics wait for each other was not measured.
    """
    return atomics * machine.latency_of("mall", "hbm") if machine.xcds > 1 else 0.0
