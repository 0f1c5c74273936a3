"""Output of rccl-tests."""

# ruff: noqa: E501 - lines are as the programs write them

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import results

NAMES = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
HEAD = f"""# Collective test starting: all_reduce_perf
# nThread 1 nGpus 8 minBytes 8388608 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20
rccl-tests: Version develop:83d38d9
#  Rank  0 Group  0 Pid  37300 on   node1 device  0 [0000:05:00] AMD Instinct MI300X
#  Rank  1 Group  0 Pid  37300 on   node1 device  1 [0000:33:00] AMD Instinct MI300X
RCCL version : 2.22.3-develop:f5b15f2
#                                                              out-of-place                       in-place
{NAMES}
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
ROW = "     8388608       2097152     float     sum      -1    91.10   92.08  161.14      0    94.94   88.36  154.63    N/A\n"
TAIL = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 157.885\n"


def test_both_places_of_a_size(reading):
    """Times, bandwidths and what is known of the run; N/A is not 0 wrong results."""
    found = reading(HEAD + ROW + TAIL)
    out, inside = found.rows
    assert (out["size_bytes"], out["count"], out["type"], out["redop"], out["place"]) == (
        8388608, 2097152, "float", "sum", "out-of-place",
    )  # fmt: skip
    assert (out["time_us"], out["algorithm_gbs"], out["bus_gbs"], out["wrong"]) == (91.1, 92.08, 161.14, 0)
    assert (inside["time_us"], inside["bus_gbs"], inside["wrong"]) == (94.94, 154.63, None)
    assert (found.facts["collective"], found.facts["ranks"], found.facts["GPU"], found.facts["RCCL version"]) == (
        "all_reduce_perf", "2", "AMD Instinct MI300X", "2.22.3-develop:f5b15f2",
    )  # fmt: skip
    assert found.facts["average bus bandwidth, GB/s"] == "157.885"
    assert not found.issues


def test_old_and_new_columns(reading):
    """No root and an error in old ones; algorithm and channels behind the numbers in new ones; MPI's mark before them."""
    old = reading(
        "#  size  count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n"
        "[1,0]<stdout>:  1024  256  float  sum  29.06  0.04  0.06  4e-07  16.80  0.06  0.11  4e-07\n"
    )
    assert [(row["time_us"], row["wrong"]) for row in old.rows] == [(29.06, 4e-07), (16.8, 4e-07)]
    new = reading(f"{NAMES}     algo     proto   nchannels\n{ROW.rstrip()}  Direct    SIMPLE          32\n")
    assert (new.rows[1]["bus_gbs"], new.rows[1]["algo"], new.rows[1]["nchannels"]) == (154.63, "Direct", "32")


def test_wrong_results_and_damage_are_told(reading):
    """Wrong sums void the bandwidths; a row cut off and one whose bandwidth is not its time's."""
    cut = ROW[:70] + "\n"
    other = ROW.replace("91.10", "911.0")
    found = reading(HEAD + ROW + cut + other + TAIL.replace(": 0 OK", ": 3 FAILED"))
    told = " | ".join(found.issues)
    assert "line 11: 7 values under 13 names" in told
    assert "line 12: 92.08 GB/s does not match 8,388,608 bytes" in told
    assert "3 results of run 1 are wrong" in told
    assert len(found.rows) == 4


@given(st.lists(st.tuples(st.integers(1, 34), st.floats(5.0, 1e5)), min_size=1, max_size=12))
def test_numbers_equal_those_that_were_written(tmp_path_factory, runs):
    """Sizes from two bytes to sixteen gigabytes, as the program's own format string writes them."""
    path = tmp_path_factory.getbasetemp() / "rccl"
    text, expected = NAMES + "\n", []
    for power, time in runs:
        size = 1 << power
        rate = size / time / 1e3
        text += f"{size:12d}  {size // 2:12d}      half     sum      -1  "
        text += f"{time:7.2f} {rate:7.2f} {1.75 * rate:7.2f}      0  " * 2 + "\n"
        expected += [(size, round(time, 2), round(rate, 2), round(1.75 * rate, 2))] * 2
    path.write_text(text)
    read = results.read(path).rows
    assert [(r["size_bytes"], r["time_us"], r["algorithm_gbs"], r["bus_gbs"]) for r in read] == [
        pytest.approx(each) for each in expected
    ]
