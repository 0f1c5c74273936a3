"""Pictures of the layouts that a kernel's tensors have: one tile of each."""

import re
from collections import Counter
from itertools import product

from kprof.analysis import KernelFacts
from kprof.details import Picture
from kprof.errors import KprofError
from kprof.inputs.mlir import MemDesc, Scalar, TensorType
from kprof.inputs.mlir.layouts import Layout
from kprof_analyzers.memory.linear_layout import LANE, REGISTER, WARP, UnknownLayoutError, linear
from kprof_analyzers.pictures.layouts import draw

_SIDES = (16, 32, 64, 128)
_MOST_CELLS = 64 * 64
_MOST_BYTES = 100_000
_MOST_PICTURES = 3
# What an image cannot show, and what can be said once.
_HINT = re.compile(r"<title>[^<]*</title>|</?g>")
_SHORTER = (
    ('.0"', '"'),
    (' rx="0"', ""),
    (' stroke="#ffffff"', ""),
    (' text-anchor="middle" font-size="9" fill="#222222"', ' class="c"'),
)
_STYLE = "<style>.c{text-anchor:middle;font-size:9px;fill:#222}</style>"

Use = tuple[Layout, tuple[int, int], int]


def layout_pictures(facts: KernelFacts) -> tuple[list[Picture], list[str]]:
    """The layouts of two-dimensional tensors and LDS buffers, most used first, and notes on what is left out."""
    if facts.ttgir is None:
        return [], []
    names = {layout: alias for alias, layout in facts.ttgir.layouts.items()}
    uses: Counter[Use] = Counter()
    for operation in facts.ttgir.operations:
        for kind in operation.types:
            if isinstance(kind, TensorType | MemDesc) and kind.layout is not None and isinstance(kind.element, Scalar):
                shape = kind.shape[-2:]
                if len(shape) == 2 and len(kind.shape) <= (3 if isinstance(kind, MemDesc) else 2):
                    uses[kind.layout, (shape[0], shape[1]), kind.element.bits or 32] += 1
    found: list[Picture] = []
    left: list[str] = []
    seen: set[Layout] = set()
    for (layout, shape, bits), _ in sorted(uses.items(), key=lambda use: (-use[1], str(use[0]))):
        if layout in seen:
            continue
        seen.add(layout)
        name = names.get(layout) or type(layout).__name__
        picture = _picture(facts, (layout, shape, bits), name) if len(found) < _MOST_PICTURES else None
        if picture is None:
            left.append(name)
        else:
            found.append(picture)
    note = f"layouts not drawn here: {', '.join(left)}: kprof draw layout --module FILE.ttgir draws them"
    return found, [note] if left else []


def _picture(facts: KernelFacts, use: Use, name: str) -> Picture | None:
    layout, shape, bits = use
    tile = _tile(layout, shape)
    try:
        svg = draw(layout, tile, facts.arch, bits)
    except (KprofError, ValueError):
        return None
    svg = _shortened(svg)
    if len(svg) > _MOST_BYTES:
        return None
    whole = "x".join(map(str, shape))
    part = "" if tile == shape else f", of which {'x'.join(map(str, tile))} is drawn: it repeats from there"
    return Picture(f"{name}: {type(layout).__name__}", svg, f"used for {whole} elements of {bits} bits{part}")


def _shortened(svg: str) -> str:
    svg = _HINT.sub("", svg)
    for long, short in _SHORTER:
        svg = svg.replace(long, short)
    head, _, rest = svg.partition("\n")
    return f"{head}{_STYLE}\n{rest}"


def _tile(layout: Layout, shape: tuple[int, int]) -> tuple[int, int]:
    """The smallest tile that each register of each lane holds one element of, or the largest that can be looked at."""
    sides = [[s for s in _SIDES if s < size] + [size] for size in shape]
    candidates = sorted(product(*sides), key=lambda tile: (tile[0] * tile[1], tile))
    fitting = [(rows, columns) for rows, columns in candidates if rows * columns <= _MOST_CELLS]
    for tile in fitting:
        try:
            held = linear(layout, tile)
        except (UnknownLayoutError, ValueError):
            return min((64, 64), shape)
        if held.size(REGISTER) * held.size(LANE) * held.size(WARP) == tile[0] * tile[1]:
            return tile
    return fitting[-1] if fitting else shape
