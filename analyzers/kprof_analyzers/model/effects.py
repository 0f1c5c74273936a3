"""Switches that leave single effects out of the performance model, to show their contribution."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effects:
    """Effects that the model takes into account; by default all are on.

    Attributes:
        vector_memory: a CU's sustained vector-memory throughput is limited; without it only latency counts.
        memory_latency: latency of loads; without it loads return at once.
        lds: the LDS pipe's throughput and latency.
        lds_conflicts: bank conflicts.
        barriers: wavefronts wait for each other at barriers.
        ping_pong: half of the wavefronts run one barrier ahead if a conditional barrier precedes the loop.
        scratch: spilled registers cost memory accesses.
        l2_traffic: workgroups that run together share loaded data; without it every load comes from memory.
        wrapped_rows: rows of a tile that repeat other rows, as with ``rows % M``, move no additional bytes.
        l2_reuse: a workgroup finds data in L2 that others of its XCD loaded, even if they do not run in step.
        overlapping_loads: a load finds data in the caches that an earlier load of its workgroup has just fetched.
        followed_lines: loads find bytes in L2 that the previous iteration's requests have fetched.
        scattered_addresses: the vector cache needs longer for lanes in several cache lines, and no time for masked
            lanes.
        rare_branches: a branch costs time only in the iterations that take it; without it, in all iterations.
        wave_quantisation: workgroups run in rounds; without it the grid is spread evenly.
        persistent: if the grid has fewer workgroups than the GPU can hold, a CU gets only its share of them.
        short_runs: rows of a tile that are shorter than an L2 line (behind L2: a channel's interleave) are slower.
        out_of_step: CUs load at different times, so each can temporarily use more than its share of the bandwidth.
        cache_modifiers: streaming loads (``nt``) get less bandwidth, and marked accesses allocate no line of the
            last-level cache.
        contention: atomics on one address wait for each other.
        write_backs: atomics with release semantics write back L2, one at a time on each die.
        matrix_power: power limits keep the matrix units below their peak.
        launch_overhead: the time of an empty launch is added.
        prologue: code outside loops takes time.
    """

    vector_memory: bool = True
    memory_latency: bool = True
    lds: bool = True
    lds_conflicts: bool = True
    barriers: bool = True
    ping_pong: bool = True
    scratch: bool = True
    l2_traffic: bool = True
    wrapped_rows: bool = True
    l2_reuse: bool = True
    overlapping_loads: bool = True
    followed_lines: bool = True
    scattered_addresses: bool = True
    rare_branches: bool = True
    wave_quantisation: bool = True
    persistent: bool = True
    short_runs: bool = True
    out_of_step: bool = True
    cache_modifiers: bool = True
    contention: bool = True
    write_backs: bool = True
    matrix_power: bool = True
    launch_overhead: bool = True
    prologue: bool = True
