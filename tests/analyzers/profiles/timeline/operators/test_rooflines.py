"""Operators against the GPU's limits: TraceLens's table of products, and traces made by hand."""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from kprof.inputs.torch_profiler import load
from kprof.inputs.torch_profiler.model import TraceInfo
from kprof_analyzers.profiles.timeline.operators.rooflines import limits_of, operator_table

SAMPLES = Path(__file__).resolve().parents[6] / "shared" / "samples" / "kineto"
REPORTS = sorted(SAMPLES.rglob("GEMM.csv")) if SAMPLES.is_dir() else []
csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


@pytest.mark.parametrize("report", REPORTS, ids=[r.parent.name for r in REPORTS])
def test_products_agree_with_tracelens(report):
    """Every row of its table: calls, time, operations, bytes, TFLOP/s and TB/s.

    It counts one operation more for every element that a bias is added to. Its rates are means of the calls' rates,
    ours are all operations over all time: they agree where the calls take alike.
    """
    trace = load(report.parent.parent / (report.parent.name.removesuffix("_perf_report_csvs") + ".json.gz"))
    limits = limits_of(trace.info)
    assert limits is not None
    assert limits.gpu == "MI300X"
    ours = {}
    for row in operator_table(trace, limits).rows:
        ours.setdefault((row.name, row.shapes), []).append(row)
    with report.open(newline="", encoding="utf-8") as file:
        theirs = list(csv.DictReader(file))
    counts = Counter((row["name"], row["Input Dims_first"]) for row in theirs)
    checked = 0
    for row in theirs:
        if counts[row["name"], row["Input Dims_first"]] > 1:
            # Told apart by strides, which decide neither operations nor bytes.
            continue
        dims = [d for d in json.loads(row["Input Dims_first"]) if d]
        (mine,) = ours[row["name"], " ".join("x".join(map(str, d)) for d in dims)]
        m, n, batch = (int(row[f"param: {letter}"]) for letter in "MNB")
        biased = m * n * batch if row["param: bias"] == "True" else 0
        assert mine.calls == int(row["name_count"])
        assert mine.total_ns == pytest.approx(1000 * float(row["Kernel Time (µs)_sum"]), rel=1e-6, abs=2)
        assert mine.flop + biased == pytest.approx(1e9 * float(row["GFLOPS_first"]), rel=1e-9)
        assert mine.bytes == pytest.approx(2**20 * float(row["Data Moved (MB)_first"]), rel=1e-9)
        if float(row["Kernel Time (µs)_std"] or 0) < 0.02 * float(row["Kernel Time (µs)_mean"]):
            assert mine.tflops == pytest.approx(float(row["TFLOPS/s_mean"]), rel=5e-3)
            assert mine.tbs == pytest.approx(float(row["TB/s_mean"]), rel=5e-3)
        checked += 1
    assert checked >= 3


def test_there_are_tables():
    """Three of the published reports have products."""
    if not SAMPLES.is_dir():
        pytest.skip("the published samples (../shared/samples) are not here")
    assert len(REPORTS) == 3


def _trace(tmp_path, *, devices=("AMD Instinct MI300X VF",), shapes=True):
    """An ``aten::mm`` with one kernel of 1 ms under ``aten::matmul``, and a kernel that nobody launched."""
    given = {"Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::Half", "c10::Half"]} if shapes else {}
    call = {"ph": "X", "pid": 1, "tid": 1}
    events = [
        {**call, "cat": "cpu_op", "name": "aten::matmul", "ts": 0, "dur": 100, "args": {"External id": 1}},
        {**call, "cat": "cpu_op", "name": "aten::mm", "ts": 10, "dur": 80, "args": {"External id": 2, **given}},
        {**call, "cat": "cuda_runtime", "name": "hipLaunchKernel", "ts": 20, "dur": 5, "args": {"correlation": 7}},
        {"ph": "X", "pid": 0, "tid": 3, "cat": "kernel", "name": "Cijk_x", "ts": 200, "dur": 1000,
         "args": {"correlation": 7, "device": 0}},
        {"ph": "X", "pid": 0, "tid": 3, "cat": "kernel", "name": "lost", "ts": 2000, "dur": 500, "args": {"device": 0}},
    ]  # fmt: skip
    properties = [{"id": n, "name": name} for n, name in enumerate(devices)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": properties, "traceEvents": events}))
    return load(path)


def test_time_at_the_limit_is_the_longer_of_two(tmp_path):
    """2 * 4096^3 over 1307.4e12 is 105 us, 96 MiB over 5.3 TB/s is 19 us: the matrix units limit it."""
    trace = _trace(tmp_path)
    table = operator_table(trace, limits_of(trace.info))
    mm, lost = table.rows

    assert (mm.name, mm.calls, mm.kernels, mm.bound) == ("aten::mm", 1, 1, "matrix_fp16")
    assert mm.least_ns == pytest.approx(2 * 4096**3 / 1307.4e12 * 1e9)
    assert mm.lost_ns == pytest.approx(1e6 - mm.least_ns)
    assert mm.tflops == pytest.approx(137.4, abs=0.1)
    assert (lost.name, lost.least_ns, lost.lost_ns) == ("lost", None, None)
    assert (table.kernel_ns, table.known_ns) == (1_500_000, 1_000_000)


def test_what_is_not_known_has_no_limit(tmp_path):
    """No GPU: rates, no loss. No shapes: neither, and the table says so. Two kinds of GPU: none is chosen."""
    trace = _trace(tmp_path, devices=("Tesla V100",))
    table = operator_table(trace, limits_of(trace.info))
    assert table.limits is None
    assert (table.rows[0].bound, table.rows[0].lost_ns) == ("", None)
    assert table.rows[0].tflops is not None

    trace = _trace(tmp_path, shapes=False)
    table = operator_table(trace, limits_of(trace.info))
    assert table.without_shapes
    assert table.known_ns == 0
    assert [row.flop for row in table.rows] == [None, None]

    assert limits_of(TraceInfo("x", devices=["AMD Instinct MI300X", "AMD Instinct MI250X"])) is None


def test_peaks_that_a_product_does_not_publish_come_from_its_rate():
    """The MI325X has the MI300X's compute units and clock; only its fp16 peak is in the data."""
    limits = limits_of(TraceInfo("x"), "MI325X")
    assert limits is not None
    assert limits.peaks["matrix_bf16"] == pytest.approx(1307.4e12, rel=1e-3)
