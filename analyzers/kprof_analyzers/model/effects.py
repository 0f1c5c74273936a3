"""Switches of the performance model: each effect can be left out, to see what it contributes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effects:
    """Which effects the model takes into account; all of them by default.

    Attributes:
        vector_memory: a CU's sustained vector-memory throughput; without it only latency counts.
        memory_latency: loads take time; without it they return at once.
        lds: the LDS pipe's throughput and latency.
        lds_conflicts: bank conflicts.
        barriers: wavefronts wait for each other at barriers.
        ping_pong: half of the wavefronts run one barrier ahead where a conditional barrier stands before the loop.
        scratch: spilled registers cost memory accesses.
        l2_traffic: tiles that run together share what they load; without it every load comes from memory.
        wrapped_rows: rows of a tile that wrap round to others of it move no bytes of their own.
        l2_reuse: workgroups out of step find in L2 what others of their XCD have loaded.
        overlapping_loads: loads that overlap another of their workgroup just before find that part in the caches.
        followed_lines: loads that go on in what the iteration before has fetched find it in L2.
        scattered_addresses: lanes that lie in several lines take the vector cache longer, masked ones no time.
        rare_branches: a branch counts as often as iterations of the loop around take it; without it always.
        wave_quantisation: workgroups run in rounds; without it the grid is spread evenly.
        persistent: a grid that is smaller than the places on the GPU decides how many workgroups a CU has.
        short_runs: rows of a tile that are shorter than L2's line (a channel's interleave where they miss) are slower.
        out_of_step: CUs load at different times, so that each may have more than its share of memory at once.
        cache_modifiers: streaming loads (``nt``) get less bandwidth, and what is marked takes no line of the last-level
            cache.
        contention: atomics on one address wait for each other.
        write_backs: atomics with release semantics write back L2, one at a time in each die.
        matrix_power: the matrix units do not sustain their peak.
        launch_overhead: the time of an empty launch.
        prologue: what lies outside loops.
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
