"""Switches that leave single effects out of the performance model, to show their contribution."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effects:
    """Effects that the model takes into account; all by default.

    Attributes:
        vector_memory: a CU's sustained vector-memory throughput; without it only latency counts.
        memory_latency: latency of loads; without it loads return at once.
        lds: the LDS pipe's throughput and latency.
        lds_conflicts: bank conflicts.
        barriers: wavefronts wait for each other at barriers.
        ping_pong: half of the wavefronts run one barrier ahead if a conditional barrier precedes the loop.
        scratch: spilled registers cost memory accesses.
        l2_traffic: workgroups that run together share loaded data; without it every load comes from memory.
        wrapped_rows: rows of a tile that wrap round to other rows of it move no additional bytes.
        l2_reuse: workgroups that are out of step find data in L2 that other workgroups of their XCD loaded.
        overlapping_loads: a load finds data in the caches that an earlier load of its workgroup has just fetched.
        followed_lines: loads find bytes in L2 that the previous iteration's requests have fetched.
        scattered_addresses: lanes in several cache lines take the vector cache longer, masked lanes take no time.
        rare_branches: a branch is executed in the iterations of its loop that take it; without it in all iterations.
        wave_quantisation: workgroups run in rounds; without it the grid is spread evenly.
        persistent: a grid with fewer workgroups than the GPU can hold limits the number of workgroups per CU.
        short_runs: rows of a tile that are shorter than L2's line are slower (a channel's interleave if they miss).
        out_of_step: CUs load at different times, so each can temporarily use more than its share of the bandwidth.
        cache_modifiers: streaming loads (``nt``) get less bandwidth, and marked accesses allocate no line of the
            last-level cache.
        contention: atomics on one address wait for each other.
        write_backs: atomics with release semantics write back L2, one at a time on each die.
        matrix_power: the matrix units do not sustain their peak.
        launch_overhead: the time of an empty launch.
        prologue: code outside loops.
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
