"""Several GPUs at once: samples begin together, and what the GPUs reach is summed only where they did."""

import re
from typing import Any

import pytest

from kprof import children
from kprof.bench.document import BenchTask, Measurement, Timing
from kprof.bench.plan import ALONE, at_once, overlap, sums
from kprof.bench.pool import Runner
from kprof.errors import KprofError

WORKER = """
import json, sys, time
while line := sys.stdin.readline():
    request = json.loads(line)
    gpu, case = request["gpu"], request["task"]["case"]
    time.sleep(0.2 * gpu)
    found = {"kernel": "toy", "case": case, "shape": {}, "provider": "triton", "status": "ok"}
    if case == "one is wrong" and gpu == 1:
        found["status"] = "wrong"
    else:
        print(json.dumps({"ready": True}), flush=True)
        assert sys.stdin.readline() == "go\\n"
        span = time.monotonic(), time.monotonic() + 10
        found["timing"] = {**dict.fromkeys(("median", "p10", "p90", "least"), 1.0), "samples": 20, "method": "events",
                           "calls": 1, "buffers": 2, "span": span}
        found["gbs"] = 1000.0 + gpu
    print(json.dumps({"measurement": found}), flush=True)
"""


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``measure(case)`` on two GPUs of which the second is 0.2 s late."""
    monkeypatch.setattr(children, "START", WORKER)

    def run(case: str) -> list[Measurement]:
        with Runner(5.0, 0) as first, Runner(5.0, 1) as second:
            return at_once([first, second], [BenchTask("toy", case, {}, "triton", together=True)] * 2)

    return run


def test_samples_begin_together(measure: Any) -> None:
    """The first waits for the late one: their samples begin within a part of those 0.2 s."""
    found = measure("plain")
    begins = [one.timing.span[0] for one in found]

    assert [one.gpu for one in found] == [0, 1]
    assert [one.who for one in found] == ["triton on GPU 0", "triton on GPU 1"]
    assert abs(begins[0] - begins[1]) < 0.15
    (said,) = sums(found)
    share = re.fullmatch(
        r"plain triton on 2 GPUs at once: 2,001 GB/s together, all GPUs took samples in (\d+) % of the time "
        "from the first sample to the last",
        said,
    )
    assert share is not None
    assert int(share[1]) >= 98


def test_a_gpu_without_samples_keeps_nobody_waiting(measure: Any) -> None:
    """The other is timed, says that it ran alone, and nothing is summed."""
    found = measure("one is wrong")

    assert [one.status for one in found] == ["ok", "wrong"]
    assert (found[0].message, found[1].message) == (ALONE, "")
    assert sums(found) == []


def test_overlap_is_the_common_part_of_the_whole() -> None:
    """Ten seconds of which the other had the middle five; and two that did not meet."""
    assert overlap([(0.0, 10.0), (2.0, 7.0)]) == pytest.approx(0.5)
    assert overlap([(0.0, 1.0), (2.0, 3.0)]) == 0


def test_rates_are_summed_only_where_every_gpu_has_one() -> None:
    """A kernel that does not tell its traffic has a time and no rate."""
    timing = Timing(1, 1, 1, 1, 20, "graph", 1, 1, span=(0.0, 1.0))
    both = [Measurement("toy", "plain", {}, "triton", "ok", timing=timing, gbs=g, tflops=2.5) for g in (10.0, None)]

    (said,) = sums(both)
    assert "5 TFLOP/s together" in said
    assert "GB/s" not in said


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"gpus": 0}, "--gpus is 0: it must be at least 1"),
        ({"gpus": 2, "write_table": "table.json"}, "a dispatch table is for one GPU"),
        ({"gpus": 2, "provider": "tuned"}, "several GPUs cannot do in step"),
    ],
)
def test_what_cannot_be_done_at_once_is_refused(asked: dict[str, Any], message: str) -> None:
    """Before a GPU is looked for."""
    import kprof

    with pytest.raises(KprofError, match=message):
        kprof.measure("softmax", **asked)
