"""Model the contention of atomics on one address, which a GPU with several dies executes one after another."""

from collections import Counter
from collections.abc import Mapping

from kprof.analysis import KernelFacts
from kprof_analyzers.model.machine import Machine
from kprof_analyzers.model.scalars import Evaluator

ATOMICS = ("tt.atomic_rmw", "tt.atomic_cas", "amdg.buffer_atomic_rmw", "amdg.buffer_atomic_cas")


def on_one_address(facts: KernelFacts, evaluator: Evaluator, times: Mapping[int | None, float], total: int) -> float:
    """Return the number of a launch's atomics on the address that the most atomics use.

    Atomics with unknown addresses are not counted.

    Args:
        facts: the kernel.
        evaluator: evaluator of workgroups spread over the launch.
        times: number of times that a workgroup executes each TTGIR loop's body; key ``None`` is code outside loops.
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
        # If all sampled workgroups use different addresses, no two workgroups of the launch are assumed to share one.
        alone = not isinstance(corner, int) and share * len(corner) <= 1
        most = max(most, times.get(op.loop, 1.0) * (1.0 if alone else share * total))
    return most


def waiting_cycles(machine: Machine, atomics: float) -> float:
    """Return the cycles that ``atomics`` atomics on one address take, one after another.

    Each die has its own L2, so the line is changed behind L2, and each atomic takes a round trip. On an MI350X, a
    kernel whose 524,288 workgroups add to the same 80 lines took 255 ns per atomic, and one of 7,892 workgroups took
    241 ns (SOL-ExecBench-ROCm, the problem ``fused_residual_rms_norm_backward``). The last-level cache answers after
    218 ns. No other problem was measured. On a GPU with a single die, L2 executes such atomics one after another
    without leaving L2; their waiting time is not modelled.

    These times also contain the write-backs of L2 (see :mod:`kprof_analyzers.model.write_backs`). In the histogram that
    ``write_back_ns`` is fitted on, each workgroup adds 84 ns in total, so 218 ns is an upper bound. The waiting time of
    atomics with relaxed semantics was not measured.
    """
    return atomics * machine.latency_of("mall", "hbm") if machine.xcds > 1 else 0.0
