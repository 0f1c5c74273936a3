"""Pictures stay XML whatever a kernel is called."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.output.svg_text import svg_text
from kprof_analyzers.pictures import svg
from kprof_analyzers.profiles.counters import roofline_svg
from kprof_analyzers.profiles.counters.roofline import Point, Roof
from kprof_analyzers.profiles.timeline.pictures.breakdown import donut

HOSTILE = 'a\x01<b>\x1b[0m\ud800&"\uffff'


@given(st.text(st.characters(codec=None), max_size=20))
def test_any_text_can_be_read_back(text: str) -> None:
    """Characters that XML allows are kept."""
    root = ET.fromstring(f"<text>{svg_text(text)}</text>".encode())
    kept = (root.text or "").replace("\ufffd", "")
    assert all(one in text or one == "\n" for one in kept)
    assert len(root.text or "") in {len(text), len(text) - text.count("\r\n")}


@pytest.mark.parametrize(
    "picture",
    [
        svg.document(9, 9, [svg.text(0, 0, HOSTILE), svg.hint(HOSTILE)], HOSTILE),
        roofline_svg.render([Point(HOSTILE, 1.0, 1.0, 1.0, 2.0, "HBM", 0.5)], [Roof("HBM", bandwidth=1.0)], HOSTILE),
        donut({"a\x01<b>": 5}, HOSTILE),
    ],
    ids=["structure", "roofline", "donut"],
)
def test_a_hostile_name_breaks_no_picture(picture: str) -> None:
    """Control characters, markup, half a surrogate pair."""
    ET.fromstring(picture.encode("utf-8"))
