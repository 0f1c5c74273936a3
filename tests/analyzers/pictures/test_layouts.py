"""Pictures of layouts: every element once, in the lane or bank that it belongs to, whatever the input."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.hardware.machine import load
from kprof.inputs.mlir.layouts import Blocked, DotOperand, Mfma, RawLayout, SwizzledShared
from kprof_analyzers.pictures.layouts import draw

ARCH = load("gfx942")
BLOCKED = Blocked((1, 4), (8, 8), (2, 1), (1, 0))
MFMA = Mfma(3, (1, 1), (16, 16, 16), is_transposed=True)
_HINT = re.compile(r"\((\d+), (\d+)\): wavefront (\d+), lane (\d+), register (\d+)")


def hints(picture):
    """What the browser would show for each cell."""
    root = ET.fromstring(picture)
    return [e.text for e in root.iter() if e.tag.endswith("title") and e.text and e.text.startswith("(")]


def test_a_blocked_layout_by_hand():
    """Four neighbours a lane, eight lanes a row, wavefront 1 below wavefront 0."""
    found = [tuple(map(int, _HINT.match(hint).groups())) for hint in hints(draw(BLOCKED, (16, 32), ARCH))]
    assert len(found) == 16 * 8
    for row, column, wavefront, lane, _register in found:
        assert (wavefront, lane) == (row // 8, row % 8 * 8 + column // 4)


def test_an_mfma_result_as_the_matrix_calculator_gives_it():
    """Transposed 16x16: lane l holds row l % 16 and the four columns from 4 * (l // 16) on."""
    for hint in hints(draw(MFMA, (16, 16), ARCH)):
        row, column, _, lane, _ = map(int, _HINT.match(hint).groups())
        assert (lane % 16, lane // 16 * 4) == (row, column)


def test_an_operand_that_wavefronts_share_says_so():
    """Both wavefronts hold all of the second operand."""
    shared = DotOperand(1, Mfma(3, (2, 1), (16, 16, 16), is_transposed=True), 4)
    assert "held 2 times" in draw(shared, (16, 16), ARCH)


@given(
    vec=st.sampled_from([1, 2, 4, 8]),
    per_phase=st.sampled_from([1, 2, 4]),
    max_phase=st.sampled_from([1, 2, 4, 8]),
)
def test_banks_of_a_swizzled_buffer(vec, per_phase, max_phase):
    """Every byte of a buffer lies somewhere once: the banks of a row of 128 bytes are all 32, in any order."""
    picture = draw(SwizzledShared(vec, per_phase, max_phase, (1, 0)), (8, 64), ARCH)
    bytes_ = [int(re.search(r"byte (\d+), bank (\d+)", hint)[1]) for hint in hints(picture)]
    banks = {int(re.search(r"bank (\d+)", hint)[1]) for hint in hints(picture) if hint.startswith("(3, ")}
    assert banks == set(range(32))
    assert len(bytes_) == len(set(bytes_))


def test_one_axis_is_a_single_row():
    """A vector."""
    assert len(hints(draw(Blocked((2,), (64,), (1,), (0,)), (128,), ARCH))) == 64


@pytest.mark.parametrize(
    ("layout", "shape", "words"),
    [
        (BLOCKED, (16, 24), "powers of two"),
        (BLOCKED, (4, 4, 4), "powers of two"),
        (BLOCKED, (1024, 1024), "too large"),
        (RawLayout("nvmma_shared", "#ttg.nvmma_shared<{}>"), (16, 16), "not a distributed layout"),
        (Blocked((1,), (64,), (1,), (0,)), (16, 16), "does not fit"),
    ],
)
def test_what_cannot_be_drawn_is_one_message(layout, shape, words):
    """No traceback."""
    with pytest.raises(KprofError, match=words):
        draw(layout, shape, ARCH)
