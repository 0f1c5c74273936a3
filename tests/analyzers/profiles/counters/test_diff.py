"""Two runs: which kernels are partners, what changed, and how sure that is."""

from statistics import stdev

import pytest

import kprof
from tests.analyzers.profiles.counters.test_identity import collection


def row(ns=1000, kib=1000.0, **launch):
    """A dispatch that read so many KiB."""
    return {"ns": ns, "FETCH_SIZE": kib, **launch}


@pytest.fixture
def diff(tmp_path):
    """``diff([rows before], [rows after])``."""

    def make(before, after, **options):
        for side, rows in (("before", before), ("after", after)):
            collection(tmp_path / side / "c.csv", *rows)
        return kprof.counter_diff(tmp_path / "before", tmp_path / "after", arch="MI300X", **options)

    return make


def test_means_spread_and_ratio_by_hand(diff):
    """Three dispatches a side: 1,024,000 bytes in 1,000 to 1,200 ns, then in half of that."""
    found = diff([row(ns) for ns in (1000, 1100, 1200)], [row(ns) for ns in (500, 550, 600)])
    pair = found.comparison.pairs[0]
    assert (pair.time.before, pair.time.after, pair.time.ratio) == (1100, 550, 0.5)
    assert pair.time.spread[0].deviation == pytest.approx(100)
    assert pair.time.beyond_spread
    read = pair.metrics["hbm_read_bandwidth"].value
    assert read.before == pytest.approx(1_024_000 / 1100)
    assert read.spread[1].deviation == pytest.approx(stdev([1_024_000 / ns for ns in (500, 550, 600)]))
    assert found.grown_percent == pytest.approx(-50)
    assert found.comparison.cannot_tell == ""


def test_a_difference_within_the_spread_is_told_from_one_beyond(diff):
    """900 to 1,100 ns against 20 ns more, and against 1,000 ns more."""
    noisy = [900, 1000, 1100, 900, 1000, 1100]
    time = diff([row(ns) for ns in noisy], [row(ns + 20) for ns in noisy]).comparison.pairs[0].time
    assert time.beyond_spread is False
    time = diff([row(ns) for ns in noisy], [row(ns + 1000) for ns in noisy]).comparison.pairs[0].time
    assert time.beyond_spread is True


def test_two_dispatches_are_too_few_to_judge(diff):
    """And one has no spread at all, instead of a spread of 0."""
    time = diff([row(1000), row(1010)], [row(2000), row(2010)]).comparison.pairs[0].time
    assert time.spread[0].count == 2
    assert time.beyond_spread is None
    time = diff([row(1000)], [row(2000)]).comparison.pairs[0].time
    assert time.spread == (None, None)


def test_more_dispatches_are_no_slower_run(diff):
    """Twice as many of the same."""
    assert diff([row()] * 3, [row()] * 6).grown_percent == pytest.approx(0)


@pytest.mark.parametrize("field", ["name", "grid", "workgroup"])
def test_another_launch_is_no_partner(diff, field):
    """Neither is compared, and both are named in the verdict."""
    other = {"name": "other", "grid": 64, "workgroup": 128}[field]
    found = diff([row(), row(100, grid=1)], [row(**{field: other}), row(100, grid=1)])
    assert [pair.before.identities[0].grid for pair in found.comparison.pairs] == [(1,)]
    assert len(found.comparison.only_before) == len(found.comparison.only_after) == 1
    assert "1 only in the first run: k (grid 4096" in found.summary
    assert "1 only in the second run" in found.summary
    assert found.comparison.cannot_tell == "2 kernels have no partner"


def test_another_build_of_the_same_launch_is_compared_and_says_so(diff):
    """8 VGPRs and 16: one launch, two builds."""
    found = diff([row()], [row(2000, vgprs=16, lds=512)])
    assert found.comparison.pairs[0].differs == ("lds", "vgprs")
    assert "1 of them in another build" in found.summary
    assert found.document["kernels"][0]["differs"] == ["lds", "vgprs"]


def test_builds_that_could_be_confused_are_not_paired(diff):
    """Two builds before, a third after: which it came from is not known."""
    found = diff([row(vgprs=8), row(vgprs=16)], [row(vgprs=24)])
    assert not found.comparison.pairs
    assert len(found.comparison.only_before) == 2
    # Of those that are equal, each has its own.
    found = diff([row(vgprs=8), row(2000, vgprs=16)], [row(3000, vgprs=16), row(4000, vgprs=8)])
    assert {(p.time.before, p.time.after) for p in found.comparison.pairs} == {(1000, 4000), (2000, 3000)}
    assert not any(pair.differs for pair in found.comparison.pairs)


def test_agents_count_only_where_a_run_has_several(diff):
    """The same GPU has another number on another machine; two GPUs of one run are two."""
    assert len(diff([row(agent=4)], [row(agent=2)]).comparison.pairs) == 1
    found = diff([row(agent=1), row(agent=2)], [row(agent=2), row(agent=3)])
    assert [pair.before.identities[0].agent for pair in found.comparison.pairs] == [2]


def test_what_was_counted_once_has_no_ratio(diff):
    """Hits and misses only before: their rate has a value on one side."""
    found = diff([row(TCC_HIT_sum=3.0, TCC_MISS_sum=1.0)], [row()])
    rate = found.comparison.pairs[0].metrics["l2_hit_rate"].value
    assert (rate.before, rate.after, rate.ratio, rate.beyond_spread) == (75, None, None, None)


def test_a_folder_of_two_runs_is_refused(tmp_path):
    """Which of them is meant?"""
    for number in (1, 2):
        collection(tmp_path / "before" / f"{number}.csv", row(begin=10**9 * number))
    collection(tmp_path / "after" / "c.csv", row())
    with pytest.raises(kprof.InputError, match=r"holds 2 runs: 1\.csv, 2\.csv"):
        kprof.counter_diff(tmp_path / "before", tmp_path / "after", arch="MI300X")


def test_a_published_run_against_itself(shared):
    """Three dispatches of one kernel in 18 passes: every metric as kprof counters metrics tells it, every ratio 1."""
    path = shared / "samples/rocprof_compute/omniperf_2.x/vcopy/MI200"
    (pair,) = kprof.counter_diff(path, path).comparison.pairs
    ((_, expected),) = kprof.counter_metrics(path).kernels
    assert {name: change.value.after for name, change in pair.metrics.items()} == {
        name: metric.value for name, metric in expected.items() if metric.value is not None
    }
    assert all(change.value.ratio in {None, 1.0} for change in pair.metrics.values())
    hit = pair.metrics["l2_hit_rate"].value.spread[0]
    assert hit.count == 3
    assert hit.least <= pair.metrics["l2_hit_rate"].value.before <= hit.most
    # Its times are of timestamps.csv: no dispatch has both a count and the time of its rate.
    assert pair.metrics["hbm_read_bandwidth"].value.spread == (None, None)
