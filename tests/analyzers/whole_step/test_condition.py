"""What a condition adds to a whole program: once, however many launches it has."""

from types import SimpleNamespace

import pytest

from kprof.condition import FLUSHED, FLUSHED_DIRTY, GRAPH, WARM
from kprof.hardware.machine import find_product
from kprof_analyzers.whole_step.table import sum_of
from kprof_analyzers.whole_step.timing import TimedCall, condition_time

MI355X = find_product("MI355X")


def calls(*moved):
    return [call(kind="copy", us=None, memory_bytes=bytes_) for bytes_ in moved]


def call(*, compiled=True, **timed):
    return SimpleNamespace(
        compiled=compiled, timed=SimpleNamespace(**{"memory_bytes": 0.0, "host_us": 0.0, "bound": "HBM", **timed})
    )


@pytest.mark.parametrize(
    ("condition", "moved", "added"),
    [
        (WARM, (60e6, 60e6), 0.0),
        (GRAPH, (60e6, 60e6), 0.0),
        (FLUSHED, (60e6, 60e6), 4.8),
        # 6 TB/s: 120 MB of written lines, and no more than the 256 MiB that the cache holds.
        (FLUSHED_DIRTY, (60e6, 60e6), 4.8 + 20.0),
        (FLUSHED_DIRTY, (600e6, 600e6), 4.8 + 2**28 / 6e6),
        (FLUSHED_DIRTY, (), 4.8),
    ],
)
def test_events_and_the_lines_that_a_flush_left(condition, moved, added):
    assert condition_time(condition, MI355X, calls(*moved)).us == pytest.approx(added, rel=1e-6)


@pytest.mark.parametrize(("condition", "added"), [(FLUSHED, 4.8 + 2.1 + 0.33), (GRAPH, 0.0), (WARM, 0.0)])
def test_the_next_launch_waits_for_a_short_one(condition, added):
    """3.1 us from start to start, if events are part of the time; the time of an operator contains that."""
    made = [("triton", 1.0), ("triton", 3.0), ("triton", 9.0), ("triton", None), ("copy", 1.0)]
    timed = [call(kind=kind, us=us) for kind, us in made]
    assert condition_time(condition, MI355X, timed).us == pytest.approx(added, abs=0.02)


@pytest.mark.parametrize(
    ("condition", "us", "hidden"),
    [
        (FLUSHED_DIRTY, 10.0, 0.0),  # its own 60 MB take 10 us at 6 TB/s
        (FLUSHED_DIRTY, 14.0, 4.0),
        (FLUSHED_DIRTY, 100.0, 10.0),  # all that is written back
        (FLUSHED, 100.0, 0.0),
    ],
)
def test_lines_may_be_written_back_while_a_program_computes(condition, us, hidden):
    found = condition_time(condition, MI355X, [call(kind="softmax", us=us, memory_bytes=60e6)])
    assert (found.hidden_us, found.low_us) == (pytest.approx(hidden), pytest.approx(found.us - hidden))


@pytest.mark.parametrize(
    ("condition", "us", "compiled", "host"),
    [
        (FLUSHED, 2.0, False, 10 * (7.5 - 2.0) - 2**28 / 6e6),
        (FLUSHED, 8.0, False, 0.0),  # the GPU takes longer than the host
        (FLUSHED, 2.0, True, 0.0),
        (WARM, 2.0, False, 0.0),
    ],
)
def test_the_gpu_waits_for_the_host_between_short_calls(condition, us, compiled, host):
    """7.5 us a call of torch, where the time is that between two events; the first while 256 MiB are flushed."""
    found = condition_time(condition, MI355X, [call(kind="copy", us=us, compiled=compiled)] * 10)
    assert found.host_us == pytest.approx(host)
    assert found.us == pytest.approx(host + (4.8 if condition is FLUSHED else 0.0))
    assert found.low_us == pytest.approx(found.us - host)


def test_the_range_of_a_sum_by_hand():
    """Two products are wrong together, by 3 + 1; what memory and launches limit by themselves, by 3 and 0."""
    calls = [
        TimedCall("mm", "", "product", 10.0, 7.0, 13.0, "matrix_bf16"),
        TimedCall("bmm", "", "batched product", 2.0, 1.0, 3.0, "matrix_fp32"),
        TimedCall("add", "", "elementwise", 8.0, 5.0, 11.0, "HBM"),
        TimedCall("fill", "", "fill", 1.0, 1.0, 1.0, "launch"),
    ]
    assert sum_of(calls) == (21.0, 21.0 - 5.0, 21.0 + 5.0)
    assert sum_of(calls[:2]) == (12.0, 8.0, 16.0)
    assert sum_of([]) == (0.0, 0.0, 0.0)


def test_the_host_waits_for_values_that_it_reads():
    """A call that only reads a value costs the host nothing else; an operator that reads one costs a call besides."""
    short = call(compiled=False, kind="elementwise", us=2.0)
    item = call(compiled=False, kind="copy to the host", us=14.0, host_us=14.0, bound="host")
    nonzero = call(compiled=False, kind="count", us=20.0, host_us=14.0)
    plain = condition_time(FLUSHED, MI355X, [short] * 100).host_us
    assert condition_time(FLUSHED, MI355X, [short] * 100 + [item] * 10).host_us == pytest.approx(plain)
    assert condition_time(FLUSHED, MI355X, [short] * 100 + [nonzero] * 10).host_us == pytest.approx(
        plain + 10 * (7.5 - 6.0)
    )
