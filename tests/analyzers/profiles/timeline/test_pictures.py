"""Pictures are sound SVG that says what the numbers say, whatever the names hold."""

import xml.etree.ElementTree as ET

import pytest

from kprof.errors import KprofError
from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline.breakdown import occupations
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.pictures.breakdown import bar, donut, sparkline, stacked_bars
from kprof_analyzers.profiles.timeline.pictures.colours import colour
from kprof_analyzers.profiles.timeline.pictures.png import png
from kprof_analyzers.profiles.timeline.pictures.utilisation import utilisation, utilisation_svg

NASTY = '<script>alert("x")</script> & \x07 {lambda()#1}'
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    """Every text of a picture; raises when it is not XML."""
    return ["".join(e.itertext()) for e in ET.fromstring(svg).iter(f"{SVG}text")]


def test_the_donut_shows_shares_and_escapes_names():
    """A slice and a legend line a category; percentages of the whole."""
    svg = donut({"GEMM": 750_000, NASTY: 250_000}, NASTY)

    shown = " ".join(texts(svg))
    assert "75.0 %" in shown
    assert "25.0 %" in shown
    assert "1.00 ms" in shown
    assert "<script>" not in svg
    assert sum(1 for _ in ET.fromstring(svg).iter(f"{SVG}path")) == 2


@pytest.mark.parametrize("shares", [{}, {"a": 0}, {"a": 5}, {"a": 1, "b": 10**12}])
def test_a_donut_of_little_is_still_a_picture(shares):
    """Nothing, one category, and one too small to see."""
    assert texts(donut(shares, "t"))


def test_stacked_bars_are_as_long_as_their_times():
    """Widths are in proportion to the longest; with relative all are full."""
    rows = [("one", {"GEMM": 600, "idle": 400}), ("two", {"GEMM": 500})]

    def widths(svg: str) -> list[float]:
        rects = [r for r in ET.fromstring(svg).iter(f"{SVG}rect") if r.find(f"{SVG}title") is not None]
        return [float(r.get("width", "0")) for r in rects]

    assert widths(stacked_bars(rows, "t")) == [312.0, 208.0, 260.0]
    assert widths(stacked_bars(rows, "t", relative=True)) == [312.0, 208.0, 520.0]


def test_utilisation_bins(tmp_path, kineto):
    """Busy in the first half only: half of the bins are full, half empty."""
    builder = kineto.Builder()
    builder.kernel("Cijk", 0.0, 50.0, 1)
    builder.kernel("Cijk", 99.999, 0.001, 2)
    trace = load(builder.write(tmp_path / "t.json"))
    (row,) = utilisation(occupations(trace, load_categories()), bins=10)

    assert row.lanes["compute"][:5] == pytest.approx([1.0] * 5)
    assert row.lanes["compute"][5:9] == [0.0] * 4
    assert sum(row.lanes["compute"]) * 10_000 == pytest.approx(50_001)
    assert "100.00 ms" not in texts(utilisation_svg([row], "t"))
    assert "0.10 ms" in texts(utilisation_svg([row], "t"))


def test_terminal_bars_and_sparklines():
    """To an eighth of a cell; anything above zero shows."""
    assert bar(0.5, 4) == "██"
    assert bar(1 / 32, 4) == "▏"
    assert bar(7.0, 4) == "████"
    assert sparkline([0, 0.001, 0.5, 1]) == " ▁▄█"


def test_colours_stay_with_their_category():
    """The same name has the same colour in every run; unknown ones too."""
    assert colour("attention") != colour("communication")
    assert colour("my own") == colour("my own")
    assert colour("my own").startswith("#")


def test_png_says_what_it_needs():
    """A picture where CairoSVG is installed, else one clear sentence."""
    try:
        data = png(donut({"a": 1}, "t"))
    except KprofError as error:
        assert "CairoSVG" in error.message  # noqa: PT017 - both outcomes are right
    else:
        assert data.startswith(b"\x89PNG")
