"""Bandwidth of collectives: nccl-tests' definitions, and sums that are told apart from waiting."""

import gzip
import json
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.api.trace.ranks import trace_ranks
from kprof_analyzers.profiles.timeline.collectives import CollectiveShape, bandwidths

TRACES = Path(__file__).parents[3] / "compiler/traces"


# What doc/PERFORMANCE.md of nccl-tests says of S bytes in t seconds on n ranks, written out.
@pytest.mark.parametrize(
    ("name", "elements", "size", "factor"),
    [
        ("allreduce", 1_000_000, 2_000_000, 2 * 7 / 8),
        ("_allgather_base", 1_000_000, 16_000_000, 7 / 8),
        ("all_gather_into_tensor_coalesced", 1_000_000, 16_000_000, 7 / 8),
        ("_reduce_scatter_base", 8_000_000, 16_000_000, 7 / 8),
        ("all_to_all", 1_000_000, 2_000_000, 7 / 8),
        ("broadcast", 1_000_000, 2_000_000, 1.0),
        ("reduce", 1_000_000, 2_000_000, 1.0),
    ],
)
def test_sizes_and_factors_are_those_of_nccl_tests(name: str, elements: int, size: int, factor: float) -> None:
    shape = CollectiveShape(name, "0", 8, elements, "BFloat16")
    (row,) = bandwidths([(shape, {rank: [1_000_000] for rank in range(8)})])
    assert (row.bytes, row.whole) == (size, True)
    assert row.algorithm_gbps == pytest.approx(size / 1e-3 / 1e9)
    assert row.bus_gbps == pytest.approx(size / 1e-3 / 1e9 * factor)


@given(
    st.integers(2, 6).flatmap(
        lambda ranks: st.lists(
            st.lists(st.integers(1, 10**9), min_size=ranks, max_size=ranks), min_size=1, max_size=8
        )
    )
)  # fmt: skip
def test_transfer_and_waiting_are_all_the_time_that_there_was(times: list[list[int]]) -> None:
    """A rank's mean time is the transfer, which all take part in, and what it waited for the last."""
    ranks = len(times[0])
    durations = {rank: [each[rank] for each in times] for rank in range(ranks)}
    (row,) = bandwidths([(CollectiveShape("allreduce", "", ranks, 4, "Float"), durations)])
    assert row.transfer_ns == sum(map(min, times))
    assert row.transfer_ns + row.waited_ns == pytest.approx(sum(map(sum, times)) / ranks, abs=1)
    assert row.count == len(times)
    assert row.algorithm_gbps == pytest.approx(16 * len(times) / row.transfer_ns)


def test_without_all_ranks_a_bandwidth_is_a_lower_bound() -> None:
    shape = CollectiveShape("allreduce", "", 8, 1_000_000, "Float")
    (row,) = bandwidths([(shape, {0: [2_000], 1: [1_000]})])
    assert not row.whole
    assert row.algorithm_gbps == pytest.approx(4000.0)


def test_ranks_with_other_counts_are_not_paired() -> None:
    """Shifted by one, every pair would be wrong: the rank that spent the least stands alone, as a lower bound."""
    shape = CollectiveShape("allreduce", "", 2, 1_000_000, "Float")
    (row,) = bandwidths([(shape, {0: [5_000, 7_000], 1: [1_000, 2_000, 3_000]})])
    assert (row.count, row.transfer_ns, row.waited_ns, row.whole) == (3, 6_000, 0, False)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        (CollectiveShape("allreduce", "", 4, None, "Float"), None),
        (CollectiveShape("allreduce", "", 4, 0, "Float"), None),
        (CollectiveShape("allreduce", "", 4, 100, "Quaternion"), None),
        (CollectiveShape("allgather", "", None, 100, "Float"), None),
        (CollectiveShape("barrier", "", 4, 1, "Int"), 4),
        (CollectiveShape("allreduce", "", 1, 100, "Float"), 400),
    ],
)
def test_what_is_not_known_gives_no_bandwidth(shape: CollectiveShape, size: int | None) -> None:
    (row,) = bandwidths([(shape, {0: [1_000], 1: [1_000]})])
    assert row.bytes == size
    assert row.algorithm_gbps is row.bus_gbps is None


def test_a_published_trace_of_four_ranks(samples: Path) -> None:
    """Against sums over the file's own events, added up without kprof's readers."""
    path = samples / "kineto/merged_4rank_amd/merged_all_events.json.gz"
    found: defaultdict[tuple[str, int], defaultdict[int, list[tuple[float, float]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for event in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]:
        args = event.get("args") or {}
        if event.get("cat") == "kernel" and "Collective name" in args:
            key = args["Collective name"], args["In msg nelems"] * {"Float": 4, "Long": 8}[args["dtype"]]
            found[key][event["pid"]].append((event["ts"], event["dur"]))
    expected = {}
    for key, ranks in found.items():
        inorder = [[dur for _, dur in sorted(events)] for events in ranks.values()]
        expected[key] = sum(map(min, zip(*inorder, strict=True)))

    rows = trace_ranks(path).report.bandwidths
    assert {(row.collective, row.bytes): row.transfer_ns / 1000 for row in rows} == pytest.approx(expected, rel=1e-9)
    reduced = [row for row in rows if row.collective == "allreduce"]
    assert len(reduced) == 5
    for row in reduced:
        assert row.bus_gbps is not None
        assert row.bytes is not None
        assert row.bus_gbps == pytest.approx(1.5 * row.bytes * row.count / row.transfer_ns)


def test_transfers_of_a_recorded_trace_are_the_times_of_gpu_events() -> None:
    """``validation/record_collectives.py``: the same collectives in a trace, and in a row between two events."""
    events = json.loads(Path(__file__).with_name("h100_collectives.events.json").read_text())
    report = trace_ranks(*(TRACES / f"h100_collectives.rank{rank}of2.json.gz" for rank in (0, 1))).report
    names = {"allreduce": 1, "_allgather_base": 2, "_reduce_scatter_base": 2, "broadcast": 1, "all_to_allv": 1}
    compared = 0
    for row in report.bandwidths:
        assert row.bytes is not None
        size = row.bytes // names[row.collective]
        kind = row.collective.strip("_").removesuffix("_base").removesuffix("v").replace("all_to_all", "alltoall")
        # Of small ones and of the all-to-all the events hold launches, and memory that is asked for, too.
        if size == 128 << 20 and kind != "alltoall":
            assert row.transfer_ns / row.count == pytest.approx(min(events[f"{kind} {size}"]), rel=0.04)
            compared += 1
        elif size > 1 << 20:
            assert 0.7 < row.transfer_ns / row.count / min(events[f"{kind} {size}"]) < 1
    assert compared == 4
    assert all(row.whole for row in report.bandwidths)


def test_waiting_is_told_apart_from_the_transfer() -> None:
    """Half of the small all-gathers came after a rank that computed 0.7 ms longer; their transfers are the others'."""
    report = trace_ranks(*(TRACES / f"h100_collectives.rank{rank}of2.json.gz" for rank in (0, 1))).report
    (row,) = (r for r in report.bandwidths if r.collective == "_allgather_base" and r.bytes == 2 << 20)
    assert row.count == 10
    assert row.transfer_ns / row.count == pytest.approx(16_300, rel=0.1)
    assert row.waited_ns / 5 > 10 * row.transfer_ns / row.count
    assert report.point_to_point.keys() == {0, 1}
