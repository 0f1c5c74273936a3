"""Layouts that cannot be are refused at once, with the field that is wrong."""

import time

import pytest

from kprof.inputs.mlir.layout_text import Scope
from kprof.inputs.mlir.layouts import Blocked, Linear, Mfma, RawLayout
from kprof.inputs.mlir.possible import impossible

BLOCKED = "#ttg.blocked<{{sizePerThread = {}, threadsPerWarp = {}, warpsPerCTA = {}, order = {}}}>"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BLOCKED.format([1, 1], [8, 65536], [4, 1], [1, 0]), "threadsPerWarp makes 524,288 lanes"),
        (BLOCKED.format([1, 1], [8, 8], [1 << 16, 1 << 16], [1, 0]), "warpsPerCTA makes 4,294,967,296 wavefronts"),
        (BLOCKED.format([1 << 16, 1 << 16], [8, 8], [4, 1], [1, 0]), "sizePerThread makes 4,294,967,296 elements"),
        (BLOCKED.format([1, 3], [8, 8], [4, 1], [1, 0]), "sizePerThread has 3: sizes are powers of two"),
        (BLOCKED.format([1, -8], [8, 8], [4, 1], [1, 0]), "sizePerThread has -8"),
        (BLOCKED.format([1, 1], [8, 8], [4, 1], [1, 1]), "order does not name"),
        (BLOCKED.format([1, 1], [8, 8], [4], [1, 0]), "warpsPerCTA has 1 axes and order 2"),
        ("#ttg.amd_mfma<{version = 3, warpsPerCTA = [64, 64], instrShape = [16, 16, 16]}>", "4,096 wavefronts"),
        ("#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [0, 16]}>", "instrShape has 0"),
        ("#ttg.swizzled_shared<{vec = 0, perPhase = 1, maxPhase = 8, order = [1, 0]}>", "vec has 0"),
        ("#ttg.linear<{register = [], lane = [[1, 0]], warp = [], block = []}>", "lane makes 2 lanes"),
    ],
)
def test_what_cannot_be(kprof, text, words):
    """It is said at once, before anything is computed of it."""
    began = time.process_time()
    found = Scope({}).layout(text)
    assert isinstance(found, RawLayout)
    assert words in found.why
    assert time.process_time() - began < 1
    ran = kprof("draw", "layout", text)
    assert ran.code == 2
    assert words in ran.err


def test_what_can_be():
    """Wavefronts of both sizes, results, the general case."""
    assert impossible(Blocked((1, 8), (8, 8), (4, 1), (1, 0))) is None
    assert impossible(Blocked((1, 1), (1, 32), (1, 32), (1, 0))) is None
    assert impossible(Mfma(3, (2, 2), (32, 32, 8), is_transposed=True)) is None
    assert impossible(Linear(((0, 1),), tuple((1 << i, 0) for i in range(6)), ((0, 2),), ())) is None
