"""Layout attributes in all their spellings."""

import pytest

from kprof.inputs.mlir.layout_text import Scope
from kprof.inputs.mlir.layouts import (
    Blocked,
    DotOperand,
    Linear,
    Mfma,
    PaddedShared,
    RawLayout,
    RotatingShared,
    SharedLinear,
    Slice,
    SwizzledShared,
    Wmma,
)

TILE = "sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1]"
TILES = "warpsPerCTA = [2, 2], tilesPerWarp = [2, 2], instrShape = [16, 16, 32]"
WMMA = "ctaLayout = {warp = [[0, 1], [1, 0]]}, instrShape = [16, 16, 32]"
SCOPE = Scope(
    {"#mma": "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>"}
)
MMA = Mfma(3, (2, 2), (32, 32, 8), is_transposed=True)


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        (
            f"#ttg.blocked<{{{TILE}, order = [1, 0], CTAsPerCGA = [1, 1], CTAOrder = [1, 0]}}>",
            Blocked((1, 8), (8, 8), (4, 1), (1, 0)),
        ),
        ("#mma", MMA),
        (
            "#triton_gpu.amd_mfma<{versionMajor = 2, warpsPerCTA = [4, 1], instrShape = [16, 16]}>",
            Mfma(2, (4, 1), (16, 16), is_transposed=False),
        ),
        (
            f"#ttg.amd_mfma<{{version = 4, {TILES}, isTransposed = true, elementBitWidth = 64}}>",
            Mfma(4, (2, 2), (16, 16, 32), is_transposed=True, tiles_per_warp=(2, 2), element_bits=64),
        ),
        (
            "#ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [2, 2]}>",
            Wmma(2, (2, 2), (16, 16, 16), is_transposed=True),
        ),
        (
            f"#ttg.amd_wmma<{{version = 3, isTranspose = true, {WMMA}}}>",
            Wmma(3, (), (16, 16, 32), is_transposed=True, warp_bases=((0, 1), (1, 0))),
        ),
        ("#ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>", DotOperand(1, MMA, 4)),
        ("#ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #mma}>}>", Slice(0, Slice(2, MMA))),
        (
            "#ttg.linear<{register = [[1, 0]], lane = [[0, 1],[0, 2],[0, 4],[0, 8],[0, 16]], warp = [], block = []}>",
            Linear(((1, 0),), ((0, 1), (0, 2), (0, 4), (0, 8), (0, 16)), ()),
        ),
        (
            "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [0, 1]}>",
            SwizzledShared(4, 2, 8, (0, 1)),
        ),
        (
            "#triton_gpu.shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], hasLeadingOffset = false}>",
            SwizzledShared(1, 1, 1, (0,)),
        ),
        (
            "#ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}>",
            RotatingShared(4, 1, 16, (0, 1)),
        ),
        (
            "#ttg.padded_shared<[128:+8, 256:+16] {order = [1, 0], shape = [64, 64]}>",
            PaddedShared(((128, 8), (256, 16)), (1, 0), (64, 64)),
        ),
        (
            "#ttg.padded_shared<[512:+8] {offset = [[0, 1], [1, 0]], block = []}>",
            PaddedShared(((512, 8),), offset=((0, 1), (1, 0))),
        ),
        (
            "#ttg.shared_linear<{offset = [[0, 1], [1, 0]], block = []}, alignment = 32>",
            SharedLinear(((0, 1), (1, 0)), (), 32),
        ),
        ("#ttg.shared_linear<{offset = [[1]]}>", SharedLinear(((1,),))),
    ],
)
def test_known_layouts(text, layout):
    """Old and new spellings, aliases and nesting."""
    assert SCOPE.layout(text) == layout


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("#ttg.nvmma_shared<{swizzlingByteWidth = 128}>", "nvmma_shared"),
        ("#ttg.blocked<{sizePerThread = [1, 8]}>", "blocked"),
        ("#ttg.blocked<{sizePerThread = oops", "blocked"),
        ("#ttg.slice<{dim = x, parent = #mma}>", "slice"),
        ("#missing", "missing"),
        ("nothing", "unknown"),
    ],
)
def test_what_is_not_known_stays_raw(text, kind):
    """With its text, so that nothing is lost."""
    layout = SCOPE.layout(text)
    assert isinstance(layout, RawLayout)
    assert (layout.kind, layout.text) == (kind, text)
