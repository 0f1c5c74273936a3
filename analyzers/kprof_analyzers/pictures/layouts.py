"""Draw layouts: the lane that holds each element, or the LDS bank of each element."""

from collections.abc import Callable, Iterator, Sequence
from colorsys import hls_to_rgb
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias, TypeVar

from kprof.errors import KprofError
from kprof.hardware.machine import Architecture
from kprof.inputs.mlir.layouts import Layout, PaddedShared, RotatingShared, SharedLinear, SwizzledShared
from kprof_analyzers.memory.linear_layout import LANE, REGISTER, WARP, UnknownLayoutError, linear
from kprof_analyzers.memory.shared_offsets import placement
from kprof_analyzers.pictures import svg

MOST = 256 * 256
"""Maximum number of elements of a tensor that is drawn."""

_MOST_HELD = 16 * MOST
_CELL = 20.0
_MARGIN = 46.0
_HEAD = 64.0
_LEGEND = 150.0
_SHARED = (SwizzledShared, RotatingShared, PaddedShared, SharedLinear)
Shape: TypeAlias = Sequence[int]
Key = TypeVar("Key")


@dataclass(frozen=True)
class Cell:
    """A run of adjacent elements along the last axis that are drawn as one cell, because they look the same.

    Attributes:
        row, column: position of the first element.
        length: number of elements.
        words: text in the cell.
        colour: fill colour.
        hint: hover text.
    """

    row: int
    column: int
    length: int
    words: str
    colour: str
    hint: str


def draw(layout: Layout, shape: Shape, arch: Architecture, element_bits: int = 16) -> str:
    """Return the picture of a layout as SVG, with rows downwards and columns to the right.

    Args:
        layout: a distributed or a shared layout.
        shape: shape of a tensor with one or two axes; powers of two.
        arch: architecture, for the banks of LDS.
        element_bits: size of an element, for the banks.

    Raises:
        KprofError: if the layout is unknown, does not fit the shape, or the picture would be too large.
    """
    sizes = (1, *shape) if len(shape) == 1 else tuple(shape)
    if len(sizes) != 2 or any(size < 1 or size & (size - 1) for size in sizes):
        raise KprofError(f"a shape of one or two powers of two can be drawn, not {'x'.join(map(str, shape))}")
    if sizes[0] * sizes[1] > MOST:
        raise KprofError(
            f"{sizes[0]}x{sizes[1]} is too large to be drawn", hint="Draw a part: 64x64 shows the pattern."
        )
    try:
        if isinstance(layout, _SHARED):
            cells, legend, about = _shared(layout, shape, arch, element_bits)
        else:
            cells, legend, about = _distributed(layout, shape)
    except UnknownLayoutError as error:
        raise KprofError(str(error)) from error
    return _picture(cells, sizes, legend, [f"{_title(layout)}   {'x'.join(map(str, shape))}", *about])


def _title(layout: Layout) -> str:
    return type(layout).__name__


def _distributed(layout: Layout, shape: Shape) -> tuple[list[Cell], list[tuple[str, str]], list[str]]:
    """Return cells, legend and notes for a picture of lanes: each element shows the first lane that holds it.

    Each wavefront has its own colour.
    """
    held = linear(layout, shape)
    if held.size(WARP) * held.size(LANE) * held.size(REGISTER) > _MOST_HELD:
        raise UnknownLayoutError("the layout has too many copies of each element to be drawn")
    owners: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
    for warp, lane, register in product(range(held.size(WARP)), range(held.size(LANE)), range(held.size(REGISTER))):
        owners.setdefault(held.element(register, lane, warp), []).append((warp, lane, register))
    outside = any(index >= size for element in owners for index, size in zip(element, shape, strict=True))
    if outside or len(owners) != prod(shape):
        raise UnknownLayoutError(f"{_title(layout)} does not fit a tensor of {'x'.join(map(str, shape))}")
    warps, lanes = held.size(WARP), held.size(LANE)
    # Lanes of a wavefront alternate in lightness so that neighbours can be distinguished.
    colours = {(w, odd): _hue(w / warps, 0.78 if odd else 0.86) for w in range(warps) for odd in (0, 1)}

    def look(element: tuple[int, ...]) -> tuple[tuple[int, int], str, str]:
        warp, lane, register = owners[element][0]
        others = len(owners[element]) - 1
        hint = f"{element}: wavefront {warp}, lane {lane}, register {register}"
        return (warp, lane), f"t{lane}", hint + (f", and {others} more" if others else "")

    cells = [
        Cell(row, column, length, words, colours[key[0], key[1] % 2], hint)
        for row, column, length, key, words, hint in _runs(shape, look)
    ]
    legend = [(f"wavefront {w}", colours[w, 0]) for w in range(warps)]
    copies = warps * lanes * held.size(REGISTER) // len(owners)
    about = [f"{warps} wavefronts of {lanes} lanes, {held.size(REGISTER)} registers per lane"]
    if copies > 1:
        about.append(f"each element is held {copies} times: the picture shows the first holder")
    return cells, legend, about


def _shared(
    layout: Layout, shape: Shape, arch: Architecture, element_bits: int
) -> tuple[list[Cell], list[tuple[str, str]], list[str]]:
    """Return cells, legend and notes for a picture of LDS banks: each element shows its bank, one colour per bank."""
    place, banks = placement(layout, shape), arch.lds.banks
    colours = [_hue(bank / banks, 0.70 + 0.16 * (bank % 2)) for bank in range(banks)]

    def look(element: tuple[int, ...]) -> tuple[int, str, str]:
        byte = place(element) * element_bits // 8
        bank = byte // arch.lds.bank_bytes % banks
        return bank, str(bank), f"{element}: byte {byte}, bank {bank}"

    cells = [
        Cell(row, column, length, words, colours[key], hint)
        for row, column, length, key, words, hint in _runs(shape, look)
    ]
    legend = [(f"bank {bank}", colours[bank]) for bank in range(banks)]
    about = [f"{banks} banks of {arch.lds.bank_bytes} bytes ({arch.name}), elements of {element_bits} bits"]
    return cells, legend, about


def _runs(
    shape: Shape, look: Callable[[tuple[int, ...]], tuple[Key, str, str]]
) -> Iterator[tuple[int, int, int, Key, str, str]]:
    """Yield row, column, length, key, words and hint of every run of equal keys along the last axis."""
    rows, columns = (1, shape[0]) if len(shape) == 1 else (shape[0], shape[1])
    for row in range(rows):
        start = 0
        first = look(_element(shape, row, 0))
        for column in range(1, columns + 1):
            now = look(_element(shape, row, column)) if column < columns else None
            if now is None or now[0] != first[0]:
                yield row, start, column - start, *first
                start, first = column, now if now is not None else first


def _element(shape: Shape, row: int, column: int) -> tuple[int, ...]:
    return (column,) if len(shape) == 1 else (row, column)


def _picture(cells: Sequence[Cell], sizes: Shape, legend: Sequence[tuple[str, str]], about: Sequence[str]) -> str:
    # Cells of large tensors are smaller, down to a size at which colours are still visible.
    cell = max(4.0, min(_CELL, 1800 / max(sizes)))
    body = [svg.text(_MARGIN, 20 + 16 * at, words, size=14 if not at else 11) for at, words in enumerate(about)]
    body += [
        svg.text(_MARGIN + at * cell, _HEAD + 8, str(at), size=9, colour="#777777")
        for at in range(0, sizes[1], max(1, sizes[1] // 16))
    ]
    body += [
        svg.text(_MARGIN - 6, _HEAD + 14 + (at + 0.7) * cell, str(at), size=9, colour="#777777", anchor="end")
        for at in range(0, sizes[0], max(1, sizes[0] // 16))
    ]
    for found in cells:
        x, y = _MARGIN + found.column * cell, _HEAD + 14 + found.row * cell
        box = svg.rectangle(x, y, found.length * cell, cell, fill=found.colour, stroke="#ffffff", radius=0)
        body.append(f"<g>{svg.hint(found.hint)}{box}")
        if cell >= 12 and found.length * cell >= 7 * len(found.words):
            middle = x + found.length * cell / 2
            body.append(svg.text(middle, y + cell * 0.68, found.words, size=9, anchor="middle"))
        body.append("</g>")
    right = _MARGIN + sizes[1] * cell + 24
    for at, (words, colour) in enumerate(legend):
        y = _HEAD + 14 + at * 18
        body += [svg.rectangle(right, y, 14, 14, fill=colour, radius=0), svg.text(right + 20, y + 11, words, size=10)]
    height = _HEAD + 14 + max(sizes[0] * cell, len(legend) * 18) + 24
    return svg.document(max(right + _LEGEND, 560), height, body, about[0])


def _hue(share: float, lightness: float) -> str:
    red, green, blue = hls_to_rgb(share, lightness, 0.62)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"
