"""``kprof.draw_layout``: draw a layout."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.api.drawing import Drawing
from kprof.errors import KprofError, near
from kprof.hardware.default import DEFAULT_GPU
from kprof.options.keywords import keywords
from kprof.options.tools import LayoutOptions

if TYPE_CHECKING:
    from kprof.inputs.mlir.layouts import Layout

_KINDS = {
    "blocked": "ttg.blocked",
    "mfma": "ttg.amd_mfma",
    "wmma": "ttg.amd_wmma",
    "linear": "ttg.linear",
    "swizzled": "ttg.swizzled_shared",
    "rotating": "ttg.amd_rotating_shared",
    "padded": "ttg.padded_shared",
}

# Default fields of each kind of layout. By default, shared layouts are not swizzled, and MFMA and WMMA layouts have
# one tile per wavefront and instruction.
_FIELDS = {
    "blocked": {"sizePerThread": "1x1", "threadsPerWarp": "8x8", "warpsPerCTA": "4x1", "order": "1x0"},
    "mfma": {"version": "3", "warpsPerCTA": "2x2", "instrShape": "16x16x16", "isTransposed": "true"},
    "wmma": {"version": "1", "warpsPerCTA": "2x2"},
    "swizzled": {"vec": "1", "perPhase": "1", "maxPhase": "1", "order": "1x0"},
    "rotating": {"vec": "1", "perPhase": "1", "maxPhase": "1", "order": "1x0"},
}

# Optional fields of each kind of layout, which have no default.
_FURTHER = {"mfma": ("tilesPerWarp", "elementBitWidth"), "wmma": ("instrShape", "isTransposed", "tilesPerWarp")}


@dataclass(frozen=True)
class LayoutDrawing(Drawing):
    """A picture of a layout.

    Attributes:
        layout: the layout.
    """

    layout: "Layout"


@keywords
def draw_layout(layout: str, *, options: LayoutOptions) -> LayoutDrawing:
    """Draw a layout: the lane that holds each element, or the LDS address and bank of each element.

    Args:
        layout: an attribute (``#ttg.blocked<{...}>``), an alias of ``module`` (``#mma``), or a kind that ``setting``
            describes: ``blocked``, ``mfma``, ``wmma``, ``linear``, ``swizzled``, ``rotating``, ``padded``.
        options: size and fields of the layout, and the GPU whose LDS is drawn.

    Raises:
        InputError: the module cannot be read.
        HardwareError: the architecture is not known.
        KprofError: the text is not a layout, or the layout is invalid.
    """
    from kprof.hardware.machine import load
    from kprof_analyzers.pictures.layouts import draw

    if options.bits not in {4, 8, 16, 32, 64}:
        raise KprofError(f"--bits takes 4, 8, 16, 32 or 64, not {options.bits}")
    text = _text(layout, options.setting)
    if options.operand is not None:
        text = f"#ttg.dot_op<{{opIdx = {options.operand}, parent = {text}, kWidth = {options.k_width}}}>"
    found = _parse_layout(text, None if options.module is None else Path(options.module))
    machine = load(options.one_gpu("a picture") or DEFAULT_GPU)
    return LayoutDrawing(draw(found, tuple(options.size), machine, options.bits), found)


def _text(layout: str, settings: Mapping[str, str]) -> str:
    """Return the MLIR attribute of a kind and its fields; return an attribute unchanged."""
    if layout.startswith("#"):
        if settings:
            raise KprofError("--setting goes with a kind of layout, not with an attribute")
        return layout
    if layout not in _KINDS:
        raise KprofError(f"unknown kind of layout {layout!r}{near(layout, list(_KINDS))}", hint=f"{', '.join(_KINDS)}")
    known = dict(_FIELDS.get(layout, {}))
    for name, value in settings.items():
        fields = [*_FIELDS.get(layout, {}), *_FURTHER.get(layout, ())]
        if fields and name not in fields:
            raise KprofError(f"a {layout} layout has no field {name!r}{near(name, fields)}", hint=", ".join(fields))
        if name != "order" and "0" in value.split("x"):
            raise KprofError(f"--setting {name}={value}: {name} cannot be 0")
        known[name] = value
    written = (f"{n} = [{v.replace('x', ', ')}]" if "x" in v else f"{n} = {v}" for n, v in known.items())
    return f"#{_KINDS[layout]}<{{{', '.join(written)}}}>"


def _parse_layout(text: str, module: Path | None) -> "Layout":
    from kprof.inputs import boundary
    from kprof.inputs.mlir import parse
    from kprof.inputs.mlir.layout_text import Scope
    from kprof.inputs.mlir.layouts import RawLayout

    aliases = {}
    if module is not None:
        aliases = dict(parse(boundary.read_text(module, most=boundary.LIMIT), str(module)).aliases)
    found = Scope(aliases).layout(text)
    if isinstance(found, RawLayout):
        hint = None if module or "<" in text else "An alias needs the file that defines it: --module FILE.ttgir."
        if found.why:
            raise KprofError(
                f"invalid layout: {found.why}", place=str(module) if module else None, hint=found.text[:200]
            )
        raise KprofError(f"cannot draw this layout: {text}", hint=hint)
    return found
