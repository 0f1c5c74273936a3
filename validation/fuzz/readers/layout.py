"""Layouts as they are given to ``kprof draw layout``: read and drawn."""

from pathlib import Path

from kprof.errors import InputError, KprofError
from kprof.hardware.machine import load
from kprof.inputs.mlir.layout_text import Scope
from kprof.inputs.mlir.layouts import RawLayout
from kprof_analyzers.pictures.layouts import draw
from validation.fuzz.target import Target, sometimes

_SHAPES = ((4, 4), (16,), (16, 16))
_DRAWN = 8


def read(data: bytes, folder: Path) -> None:
    """Pictures of small tensors with this layout."""
    del folder
    found = Scope({}).layout(data.decode(errors="replace"))
    if isinstance(found, RawLayout):
        raise InputError("no layout that can be drawn")
    drawn = 0
    for shape in _SHAPES:
        try:
            assert draw(found, shape, load("gfx942"), 16).startswith("<svg")
        except KprofError:
            continue
        drawn += 1
        # Larger pictures take their time.
        if not sometimes(data, _DRAWN):
            break
    if not drawn:
        raise InputError("fits none of the shapes")


TARGET = Target(
    read,
    words=(
        "#ttg.blocked<{", "sizePerThread = [", "threadsPerWarp = [", "warpsPerCTA = [", "order = [", "#ttg.amd_mfma<{",
        "instrShape = [", "isTransposed = true", "#ttg.swizzled_shared<{", "vec = ", "perPhase = ", "maxPhase = ",
        "#ttg.padded_shared<[", "#ttg.linear<{", "register = [", "lane = [", "warp = [", "block = [", "#ttg.slice<{", "dim = ",
        "parent = ", "#ttg.dot_op<{", "opIdx = ", "kWidth = ", "#ttg.amd_wmma<{", "version = ", "CGALayout",
    ), runs=150)  # fmt: skip
