"""Placing kernels under the roofline, and drawing it."""

from xml.etree import ElementTree as ET

import pytest

from kprof_analyzers.profiles.counters.roofline import Roof, draw, place, roofs
from kprof_analyzers.profiles.counters.roofline_svg import render


def counters(flop32: float = 0.0, mops16: float = 0.0, lines: float = 1000.0) -> dict[str, float]:
    """All counters that a roofline needs; ``lines`` reads of 128 bytes."""
    found = {f"SQ_INSTS_VALU_{op}_{t}": 0.0 for op in ("ADD", "MUL", "TRANS", "FMA") for t in ("F16", "F32", "F64")}
    found |= {f"SQ_INSTS_VALU_MFMA_MOPS_{t}": 0.0 for t in ("F8", "F16", "BF16", "F32", "F64")}
    found |= {"SQ_INSTS_VALU_ADD_F32": flop32 / 64, "SQ_INSTS_VALU_MFMA_MOPS_F16": mops16, "TCC_BUBBLE_sum": lines,
              "TCC_EA0_RDREQ_sum": lines, "TCC_EA0_RDREQ_32B_sum": 0.0, "TCC_EA0_WRREQ_sum": 0.0,
              "TCC_EA0_WRREQ_64B_sum": 0.0}  # fmt: skip
    return found


def test_a_memory_bound_kernel_is_under_the_slanted_roof(gpu, kernel):
    """One FLOP a byte: HBM is the limit, 128,000 bytes in 1,000 ns are 128 GB/s of 5,300."""
    point = place(kernel(counters(flop32=128_000)), gpu(), roofs(gpu()))
    assert point.bound == "HBM"
    assert point.intensity == 1.0
    assert point.limit == pytest.approx(5300)
    assert point.share == pytest.approx(128 / 5300)


def test_a_matrix_kernel_is_under_the_matrix_roof(gpu, kernel):
    """So many FLOP a byte that HBM does not matter."""
    point = place(kernel(counters(mops16=1e6, lines=10)), gpu(), roofs(gpu()))
    assert point.bound == "matrix_fp16"
    assert point.limit == pytest.approx(1307.4e3)
    assert point.share == pytest.approx(512e6 / 1000 / 1307.4e3)


def test_a_copy_is_told_by_its_bandwidth(gpu, kernel):
    """No FLOP: no place on the plot, but a share of HBM bandwidth."""
    point = place(kernel(counters()), gpu(), roofs(gpu()))
    assert (point.flop_rate, point.bound) == (0.0, "HBM")
    assert point.share == pytest.approx(128 / 5300)


def test_the_memory_level_that_is_nearest_to_its_peak_is_named(gpu, kernel):
    """A kernel that lives in the vector L1 is not said to be far from everything: 60 TB/s of the MI300X's 81.7."""
    found = counters(flop32=1e6) | {"TCP_TOTAL_CACHE_ACCESSES_sum": 470e3, "TCC_REQ_sum": 1e3}
    point = place(kernel(found), gpu(), roofs(gpu()))
    shares = {level.name: level.share for level in point.levels}

    assert shares["HBM"] == pytest.approx(128 / 5300)
    assert shares["vL1D"] == pytest.approx(470e3 * 128 / 1000 / (304 * 2.1 * 128))
    assert (point.bound, point.share) == ("vL1D", shares["vL1D"])
    assert point.limit == pytest.approx(point.flop_rate / shares["vL1D"])


def test_measured_peaks_come_before_published_ones(gpu, kernel):
    """What the machine reached in rocprof-compute's own benchmark, a mean over its devices."""
    import pandas as pd

    class Peaks:
        def table(self, name):
            assert name == "peaks"
            rows = [("HBMBw", 4000.0), ("HBMBw", 4400.0), ("L1Bw", 30000.0), ("MFMAF16Flops", 6e5), ("HBMBwLow", 1.0)]
            return pd.DataFrame(rows, columns=["name", "value"])

    limits = {roof.name: roof for roof in roofs(gpu(), Peaks())}
    assert (limits["HBM"].bandwidth, limits["HBM"].origin) == (4200.0, "measured")
    assert (limits["matrix_fp16"].flop_rate, limits["matrix_fp16"].origin) == (6e5, "measured")
    assert (limits["matrix_fp8"].flop_rate, limits["matrix_fp8"].origin) == (pytest.approx(2614.9e3), "product")
    point = place(kernel(counters(flop32=128_000)), gpu(), list(limits.values()))
    assert point.share == pytest.approx(128 / 4200)


def test_missing_counters_are_named(gpu, kernel):
    """What to collect before the kernel can be placed."""
    point = place(kernel({"SQ_WAVES": 1}), gpu(), roofs(gpu()))
    assert point.share is None
    assert "TCC_BUBBLE_sum" in point.missing or "FETCH_SIZE" in point.missing


def test_the_drawing_has_every_kernel_and_both_roofs(gpu, kernel):
    """Letters in order; a slanted and a flat part."""
    points = [place(kernel(counters(flop32=f)), gpu(), roofs(gpu())) for f in (1e5, 1e7)]
    text = "\n".join(draw(points, roofs(gpu())))
    assert text.count("A") >= 1
    assert "B" in text
    assert "/" in text
    assert "---" in text
    assert draw([place(kernel({}), gpu(), roofs(gpu()))], roofs(gpu())) == []


def test_the_picture_is_xml_without_anything_active(gpu, kernel):
    """A kernel name full of markup stays text."""
    from dataclasses import replace

    point = place(kernel(counters(flop32=1e6)), gpu(), roofs(gpu()))
    hostile = replace(point, kernel='<script>alert("&")</script>')
    tree = ET.fromstring(render([hostile], roofs(gpu()), "Roofs <of> & under"))
    kinds = {element.tag.rsplit("}", 1)[-1] for element in tree.iter()}
    assert kinds <= {"svg", "rect", "text", "line", "circle", "title"}
    assert any("<script>" in (element.text or "") for element in tree.iter())


def test_roofs_are_lines():
    """At an intensity."""
    assert Roof("HBM", bandwidth=100.0).at(2.0) == 200.0
    assert Roof("matrix", flop_rate=50.0).at(2.0) == 50.0
