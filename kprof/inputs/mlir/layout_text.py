"""Parse layout attributes into the classes of :mod:`kprof.inputs.mlir.layouts`."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from kprof.inputs.mlir import layouts as kinds
from kprof.inputs.mlir.possible import impossible
from kprof.inputs.mlir.text import closing, fields, integers, value

_ATTRIBUTE = re.compile(r"#(?:(?:ttg|triton_gpu|ttng|triton_nvidia_gpu|amdg|amdgpu|tt)\.)?([\w.]+)\s*(<)?")
_PADDING = re.compile(r"(\d{1,18})\s*:\s*\+(\d{1,18})")
_MAX_DEPTH = 32

Reader = Callable[[Mapping[str, Any], str, "Scope"], kinds.Layout]


class Scope:
    """Layout aliases of a module, resolved on first use; an alias that refers to itself becomes a ``RawLayout``."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self.aliases = aliases
        self._known: dict[str, kinds.Layout] = {}
        self._busy: set[str] = set()

    def layout(self, text: str) -> kinds.Layout:
        """Return the layout for an attribute's text or alias."""
        text = text.strip()
        known = self._known.get(text)
        if known is not None:
            return known
        if text in self._busy or len(self._busy) > _MAX_DEPTH:
            return kinds.RawLayout("cycle", text)
        self._busy.add(text)
        try:
            target = self.aliases.get(text)
            result = self.layout(target) if target is not None and target != text else read_layout(text, self)
        finally:
            self._busy.discard(text)
        self._known[text] = result
        return result


def read_layouts(aliases: Mapping[str, str]) -> dict[str, kinds.Layout]:
    """Return the layout of every alias that names a layout; other aliases are ignored."""
    scope = Scope(aliases)
    found = {name: scope.layout(name) for name in aliases}
    return {name: layout for name, layout in found.items() if not _is_space(layout)}


def read_layout(text: str, scope: Scope) -> kinds.Layout:
    """Parse a layout attribute; unsupported ones become a :class:`~kprof.inputs.mlir.layouts.RawLayout`."""
    head = _ATTRIBUTE.match(text)
    if head is None:
        return kinds.RawLayout("unknown", text)
    kind = head[1]
    end = closing(text, head.end() - 1) if head[2] else -1
    body = text[head.end() : end].strip() if end > 0 else ""
    known = _fields(body)
    reader = _READERS.get(kind)
    try:
        if reader is not None and body:
            found = reader(known, body, scope)
            why = impossible(found)
            return found if why is None else kinds.RawLayout(kind, text, known, why)
    except (KeyError, TypeError, ValueError):
        pass
    return kinds.RawLayout(kind, text, known)


def _is_space(layout: kinds.Layout) -> bool:
    return isinstance(layout, kinds.RawLayout) and layout.kind == "shared_memory"


def _fields(body: str) -> dict[str, Any]:
    """Parse the fields of ``{...}``, including fields outside the braces."""
    start = body.find("{")
    if start < 0:
        return fields(body)
    end = closing(body, start)
    if end < 0:
        return {}
    return {**fields(body[start + 1 : end]), **fields(body[end + 1 :].lstrip(", "))}


def _sizes(known: Mapping[str, Any], name: str) -> tuple[int, ...]:
    sizes = integers(known[name])
    if not sizes:
        raise ValueError(name)
    return sizes


def _bases(item: Any) -> kinds.Bases:
    return tuple(integers(basis) for basis in item) if isinstance(item, list) else ()


def _blocked(known: Mapping[str, Any], _body: str, _scope: Scope) -> kinds.Layout:
    names = ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order")
    return kinds.Blocked(*(_sizes(known, name) for name in names))


def _slice(known: Mapping[str, Any], _body: str, scope: Scope) -> kinds.Layout:
    return kinds.Slice(int(known["dim"]), scope.layout(str(known["parent"])))


def _mfma(known: Mapping[str, Any], _body: str, _scope: Scope) -> kinds.Layout:
    version = known["version"] if "version" in known else known["versionMajor"]
    bits = known.get("elementBitWidth")
    element = str(known.get("elementType", ""))
    if bits is None:
        bits = int(element[1:]) if len(element) < 6 and element[1:].isdecimal() else 32
    return kinds.Mfma(
        version=int(version),
        warps_per_cta=_sizes(known, "warpsPerCTA"),
        instr_shape=_sizes(known, "instrShape"),
        is_transposed=known.get("isTransposed") is True,
        tiles_per_warp=integers(known.get("tilesPerWarp")),
        element_bits=int(bits),
    )


def _wmma(known: Mapping[str, Any], _body: str, _scope: Scope) -> kinds.Layout:
    placement = known.get("ctaLayout")
    placement = placement if isinstance(placement, dict) else {}
    rank = known.get("rank")
    return kinds.Wmma(
        version=int(known["version"]),
        warps_per_cta=integers(known.get("warpsPerCTA")),
        instr_shape=integers(known.get("instrShape")) or (16, 16, 16),
        is_transposed=known.get("isTranspose", known.get("isTransposed")) is True,
        tiles_per_warp=integers(known.get("tilesPerWarp")),
        warp_bases=_bases(placement.get("warp")),
        register_bases=_bases(placement.get("register")),
        rank=rank if isinstance(rank, int) else None,
    )


def _dot_operand(known: Mapping[str, Any], _body: str, scope: Scope) -> kinds.Layout:
    return kinds.DotOperand(int(known["opIdx"]), scope.layout(str(known["parent"])), int(known.get("kWidth", 0)))


def _linear(known: Mapping[str, Any], _body: str, _scope: Scope) -> kinds.Layout:
    return kinds.Linear(*(_bases(known[name]) for name in ("register", "lane", "warp", "block")))


def _swizzled(known: Mapping[str, Any], _body: str, _scope: Scope) -> kinds.Layout:
    vec, per_phase, max_phase = (int(known[name]) for name in ("vec", "perPhase", "maxPhase"))
    return kinds.SwizzledShared(vec, per_phase, max_phase, _sizes(known, "order"))


def _rotating(known: Mapping[str, Any], _body: str, _scope: Scope) -> kinds.Layout:
    vec, per_phase, max_phase = (int(known[name]) for name in ("vec", "perPhase", "maxPhase"))
    return kinds.RotatingShared(vec, per_phase, max_phase, _sizes(known, "order"))


def _padded(known: Mapping[str, Any], body: str, _scope: Scope) -> kinds.Layout:
    pairs = tuple((int(a), int(b)) for a, b in _PADDING.findall(body[: body.find("]") + 1]))
    if not pairs:
        raise ValueError(body)
    return kinds.PaddedShared(
        paddings=pairs,
        order=integers(known.get("order")),
        shape=integers(known.get("shape")),
        offset=_bases(known.get("offset")),
        block=_bases(known.get("block")),
    )


def _shared_linear(known: Mapping[str, Any], _body: str, _scope: Scope) -> kinds.Layout:
    return kinds.SharedLinear(
        _bases(known["offset"]), _bases(known.get("block")), int(value(str(known.get("alignment", 16))))
    )


_READERS: Mapping[str, Reader] = {
    "blocked": _blocked,
    "slice": _slice,
    "amd_mfma": _mfma,
    "amd_wmma": _wmma,
    "dot_op": _dot_operand,
    "linear": _linear,
    "swizzled_shared": _swizzled,
    # Triton before 3.3 had a single shared layout with this name.
    "shared": _swizzled,
    "amd_rotating_shared": _rotating,
    "padded_shared": _padded,
    "shared_linear": _shared_linear,
}
