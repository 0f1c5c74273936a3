"""Categories, lanes and device times: by hand, and against sets of nanoseconds."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.torch_profiler.columns import Records
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace, Operator, TraceInfo
from kprof_analyzers.profiles.timeline.breakdown import (
    breakdown,
    category_rows,
    device_times,
    lane_of,
    occupations,
)
from kprof_analyzers.profiles.timeline.categories import Categories, load_categories

NAMES = {
    "Cijk_Alik_Bljk": ("GEMM", "compute"),
    "attn_fwd": ("attention", "compute"),
    "ncclDevKernel_Generic": ("communication", "communication"),
    "__amd_rocclr_copyBuffer": ("memory", "memory"),
    "something_never_seen": ("other", "compute"),
}
"""Kernel to its category and to the kind of work that it is, as people read the names."""


@pytest.fixture(scope="module")
def rules() -> Categories:
    """The shipped ones."""
    return load_categories()


def trace_of(activities, operators=()) -> LinkedTrace:
    """A trace of nothing but these."""
    info = TraceInfo(path="here.json")
    return LinkedTrace(info, activities=Records(Activity, activities), operators=Records(Operator, operators))


def activity(name, start, duration, *, kind="kernel", rank=0, device=2, **more):
    """One thing the GPU did."""
    return Activity(name, kind, rank, device, 0, start, duration, **more)


HAND = (
    activity("Cijk_Alik_Bljk", 0, 100),
    activity("ncclDevKernel_Generic", 80, 60),  # 40 ns beyond the GEMM
    activity("Memcpy DtoH", 120, 50, kind="copy"),  # 30 ns beyond the collective
    activity("Cijk_Ailk_Bljk", 300, 20),
    activity("Cijk_Alik_Bljk", 400, 30, rank=1, device=3),
    activity("Memset", 500, 5, kind="memset", rank=1, device=3),
)


def test_a_small_trace_by_hand(rules):
    """Sums by category with the largest name, by rank, and each device's busy, idle and exposed time."""
    found = breakdown(trace_of(HAND), rules)
    rows = [(row.category, row.total_ns, row.count, row.largest) for row in found.categories]
    assert rows == [
        ("GEMM", 150, 3, "Cijk_Alik_Bljk"),
        ("communication", 60, 1, "ncclDevKernel_Generic"),
        ("memory", 55, 2, "Memcpy DtoH"),
    ]
    assert [row.share for row in found.categories] == [150 / 265, 60 / 265, 55 / 265]
    assert found.total_ns == 265
    assert found.path == "here.json"
    assert found.by_rank == {0: {"GEMM": 120, "communication": 60, "memory": 50}, 1: {"GEMM": 30, "memory": 5}}
    assert list(found.by_rank) == [0, 1]
    assert list(found.by_rank[0]) == ["GEMM", "communication", "memory"]
    first, second = found.devices
    assert (first.rank, first.device, first.first_ns, first.last_ns, first.span_ns) == (0, 2, 0, 320, 320)
    assert (first.compute_ns, first.communication_ns, first.memory_ns) == (120, 60, 50)
    assert (first.busy_ns, first.idle_ns) == (190, 130)
    assert (first.exposed_communication_ns, first.exposed_memory_ns) == (40, 30)
    assert (first.kernel_ns, first.activities) == (180, 4)
    assert (second.rank, second.device, second.span_ns, second.busy_ns) == (1, 3, 105, 35)
    assert (second.kernel_ns, second.activities) == (30, 2)


def test_what_takes_longest_names_its_category(rules):
    """By the sum of its times and not by how often it ran; the largest category comes first."""
    often = [activity("Cijk_a", 10 * n, 3) for n in range(5)]
    found = breakdown(trace_of([*often, activity("Cijk_b", 100, 16), activity("attn_fwd", 200, 40)]), rules)
    assert [(row.category, row.largest, row.count) for row in found.categories] == [
        ("attention", "attn_fwd", 1),
        ("GEMM", "Cijk_b", 6),
    ]


def test_nothing_has_no_categories_and_no_devices(rules):
    """An empty trace, and one whose activities took no time: no share is made up."""
    empty = breakdown(trace_of([]), rules)
    assert (empty.categories, empty.devices, empty.by_rank, empty.total_ns) == ([], [], {}, 0)
    instant = breakdown(trace_of([activity("attn_fwd", 5, 0)]), rules)
    assert [(row.category, row.count, row.share) for row in instant.categories] == [("attention", 1, 0.0)]
    assert instant.devices == []


def test_a_category_without_a_largest_name_has_none():
    """Rows that are summed up elsewhere may not have one."""
    (row,) = category_rows(Counter(a=4), Counter(a=2), {})
    assert (row.category, row.total_ns, row.count, row.share, row.largest) == ("a", 4, 2, 1.0, "")


@pytest.mark.parametrize(("name", "lane"), [(name, lane) for name, (_, lane) in NAMES.items()])
def test_the_kind_of_work_follows_from_the_name(rules, name, lane):
    """Copies and memsets are memory whatever they are called; what launched a kernel does not matter."""
    assert lane_of("kernel", name, rules) == lane
    assert lane_of("copy", name, rules) == "memory"
    assert lane_of("memset", name, rules) == "memory"


def test_devices_are_sorted_and_one_that_is_not_known_comes_last(rules):
    """By rank, then by number."""
    order = [(1, 0), (0, None), (0, 7), (0, 0), (1, None), (0, 3)]
    found = occupations(trace_of([activity("k", 0, 1, rank=r, device=d) for r, d in order]), rules)
    assert [(o.rank, o.device) for o in found] == [(0, 0), (0, 3), (0, 7), (0, None), (1, 0), (1, None)]


MADE = st.builds(
    activity,
    st.sampled_from(sorted(NAMES)),
    st.integers(0, 200),
    st.integers(0, 40),
    kind=st.sampled_from(("kernel", "kernel", "copy", "memset")),
    rank=st.integers(0, 1),
    device=st.sampled_from((2, 3, None)),
)


def covered(activities):
    """Every nanosecond in which one of these ran."""
    return {ns for a in activities for ns in range(a.start_ns, a.start_ns + a.duration_ns)}


@given(st.lists(MADE, max_size=25))
def test_times_are_those_of_sets_of_nanoseconds(activities):
    """For any trace: unions, what is exposed, and sums with overlaps counted twice."""
    rules = load_categories()
    found = {(t.rank, t.device): t for t in device_times(trace_of(activities), rules)}
    for rank, device in {(a.rank, a.device) for a in activities}:
        mine = [a for a in activities if (a.rank, a.device) == (rank, device)]
        lanes = {"compute": [], "communication": [], "memory": []}
        for a in mine:
            lanes["memory" if a.kind != "kernel" else NAMES[a.name][1]].append(a)
        compute, communication, memory = (covered(each) for each in lanes.values())
        busy = compute | communication | memory
        times = found.pop((rank, device), None)
        if not busy:
            assert times is None
            continue
        assert (times.first_ns, times.last_ns) == (min(busy), max(busy) + 1)
        assert (times.compute_ns, times.communication_ns) == (len(compute), len(communication))
        assert (times.memory_ns, times.busy_ns) == (len(memory), len(busy))
        assert times.idle_ns == max(busy) + 1 - min(busy) - len(busy)
        assert times.exposed_communication_ns == len(communication - compute)
        assert times.exposed_memory_ns == len(memory - compute - communication)
        assert times.kernel_ns == sum(a.duration_ns for a in mine if a.kind == "kernel")
        assert times.activities == len(mine)
    assert not found


@given(st.lists(MADE, max_size=25))
def test_sums_by_category_are_those_of_the_activities(activities):
    """Each activity is in one category, and in one rank's sum."""
    found = breakdown(trace_of(activities), load_categories())
    category = {id(a): "memory" if a.kind != "kernel" else NAMES[a.name][0] for a in activities}
    totals = Counter()
    for a in activities:
        totals[category[id(a)]] += a.duration_ns
    assert {row.category: row.total_ns for row in found.categories} == totals
    assert {row.category: row.count for row in found.categories} == Counter(category.values())
    assert found.total_ns == sum(totals.values())
    if found.total_ns:
        assert sum(row.share for row in found.categories) == pytest.approx(1)
    assert sorted(row.total_ns for row in found.categories)[::-1] == [row.total_ns for row in found.categories]
    for rank, sums in found.by_rank.items():
        assert sum(sums.values()) == sum(a.duration_ns for a in activities if a.rank == rank)
