"""CSV and the plot."""

import csv
import io
from xml.etree import ElementTree as ET

from kprof.bench.document import BenchReport, Device, Measurement, Timing
from kprof.bench.plot import as_svg
from kprof.reporters.interface import ReportRequest
from kprof.reporters.registry import format_of

DEVICE = Device("Some <GPU>", "rocm", "gfx942", {}, 1)


def measured(case: str, provider: str, ms: float | None, gbs: float | None = None) -> Measurement:
    """One measurement; without a time it failed."""
    timing = None if ms is None else Timing(ms, ms, ms, ms, 20, "graph", 8, 2)
    status = "ok" if timing else "out_of_memory"
    return Measurement("copy", case, {"N": 8}, provider, status, timing=timing, gbs=gbs)  # type: ignore[arg-type]


REPORT = BenchReport(
    "0.1.0",
    DEVICE,
    [
        measured("small, odd", "triton", 0.5, 3000.0),
        measured("small, odd", "torch", 0.25, 1500.0),
        measured("large", "triton", 2.0, 3200.0),
        measured("large", "torch", None),
    ],
)


def test_csv_has_one_line_a_measurement() -> None:
    """Commas inside a value are quoted; what is not known is empty."""
    rows = list(csv.DictReader(io.StringIO(format_of("csv", "bench").render(REPORT, ReportRequest("bench")))))

    assert [r["case"] for r in rows] == ["small, odd", "small, odd", "large", "large"]
    assert (rows[0]["ms"], rows[0]["gbs"], rows[3]["ms"]) == ("0.5", "3000.0", "")
    assert rows[0]["device"] == "Some <GPU>"


def test_plot_has_a_line_a_provider_and_a_gap_for_a_failure() -> None:
    """Points are as high as their values; names are escaped."""
    root = ET.fromstring(as_svg(REPORT))  # our own output
    space = "{http://www.w3.org/2000/svg}"
    lines = [e.attrib["points"].split() for e in root.iter(f"{space}polyline")]
    words = [e.text for e in root.iter(f"{space}text")]

    assert [len(points) for points in lines] == [2, 1]
    heights = [[float(p.partition(",")[2]) for p in points] for points in lines]
    assert heights[0][1] < heights[0][0] < heights[1][0], "more GB/s is higher up, that is a smaller y"
    assert "copy on Some <GPU>" in words
    assert "GB/s" in words


def test_plot_of_nothing_is_still_a_picture() -> None:
    """All failed, or nothing was measured."""
    for measurements in ([measured("large", "torch", None)], []):
        assert ET.fromstring(as_svg(BenchReport("0", DEVICE, measurements))).tag.endswith("svg")


def test_without_traffic_the_plot_shows_calls() -> None:
    """A kernel of one's own need not count its bytes."""
    root = ET.fromstring(as_svg(BenchReport("0", DEVICE, [measured("a", "triton", 0.5), measured("b", "triton", 1.0)])))

    assert "calls / ms" in [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
