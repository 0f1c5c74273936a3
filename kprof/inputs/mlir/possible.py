"""Detect layouts that no GPU can have, so that no other code enumerates the elements of a huge layout."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from kprof.inputs.mlir import layouts as kinds

MOST_WARPS = 32
"""Maximum number of wavefronts: a workgroup has up to 1,024 work-items, and a wavefront has at least 32."""
MOST_REGISTERS = 1 << 16
"""Maximum number of elements per lane in an accepted layout; the register file of a SIMD cannot hold that many."""
_LANES = (32, 64)
_MOST_SIZE = 1 << 16
_MOST_STEP = 1 << 31
_MOST_RANK = 8


def impossible(layout: kinds.Layout) -> str | None:
    """Return why a layout is impossible, naming the field, or ``None`` if it is possible."""
    check = _CHECKS.get(type(layout))
    return check(layout) if check is not None else None


def _powers(name: str, sizes: Sequence[int]) -> str | None:
    wrong = next((size for size in sizes if not 0 < size <= _MOST_SIZE or size & (size - 1)), None)
    if wrong is not None:
        return f"{name} has {_number(wrong)}: sizes are powers of two, up to {_MOST_SIZE:,}"
    return f"{name} has {len(sizes)} axes" if len(sizes) > _MOST_RANK else None


def _number(value: int) -> str:
    # Python refuses to format integers with thousands of digits.
    return f"{value:,}" if abs(value) < 1 << 200 else "a number of hundreds of digits"


def _lanes(name: str, count: int) -> str | None:
    return None if count in _LANES else f"{name} makes {_number(count)} lanes: a wavefront has 32 or 64"


def _warps(name: str, count: int) -> str | None:
    if count <= MOST_WARPS:
        return None
    return f"{name} makes {_number(count)} wavefronts: a workgroup has at most {MOST_WARPS}"


def _order(order: Sequence[int], rank: int) -> str | None:
    return None if sorted(order) == list(range(rank)) else f"order does not name each of {rank} axes once"


def _blocked(layout: kinds.Blocked) -> str | None:
    fields = {
        "sizePerThread": layout.size_per_thread,
        "threadsPerWarp": layout.threads_per_warp,
        "warpsPerCTA": layout.warps_per_cta,
    }
    for name, sizes in fields.items():
        if (why := _powers(name, sizes)) is not None:
            return why
        if len(sizes) != len(layout.order):
            return f"{name} has {len(sizes)} axes and order {len(layout.order)}"
    if prod(layout.size_per_thread) > MOST_REGISTERS:
        return f"sizePerThread makes {prod(layout.size_per_thread):,} elements per lane"
    return (
        _lanes("threadsPerWarp", prod(layout.threads_per_warp))
        or _warps("warpsPerCTA", prod(layout.warps_per_cta))
        or _order(layout.order, len(layout.order))
    )


def _matrix(layout: kinds.Mfma | kinds.Wmma) -> str | None:
    fields = {
        "warpsPerCTA": layout.warps_per_cta,
        "tilesPerWarp": layout.tiles_per_warp,
        "instrShape": layout.instr_shape,
    }
    for name, sizes in fields.items():
        if (why := _powers(name, sizes)) is not None:
            return why
    if len(layout.instr_shape) < 2 or max(layout.instr_shape) > 256:
        return "instrShape matches no matrix instruction"
    if prod(layout.tiles_per_warp) > MOST_REGISTERS:
        return f"tilesPerWarp makes {prod(layout.tiles_per_warp):,} tiles"
    if isinstance(layout, kinds.Wmma):
        return (
            _warps("warpsPerCTA", prod(layout.warps_per_cta))
            or _bases("ctaLayout.warp", layout.warp_bases, MOST_WARPS)
            or _bases("ctaLayout.register", layout.register_bases, MOST_REGISTERS)
        )
    return _warps("warpsPerCTA", prod(layout.warps_per_cta))


def _dot(layout: kinds.DotOperand) -> str | None:
    if layout.index not in {0, 1}:
        return f"opIdx is {_number(layout.index)}: it must be 0 or 1"
    return None if layout.k_width == 0 else _powers("kWidth", (layout.k_width,))


def _slice(layout: kinds.Slice) -> str | None:
    return None if 0 <= layout.dim < _MOST_RANK else f"dim is {_number(layout.dim)}"


def _bases(name: str, bases: kinds.Bases, most: int) -> str | None:
    if len(bases) > most.bit_length() - 1:
        return f"{name} has {len(bases)} bases: the maximum is {most.bit_length() - 1}"
    if len({len(basis) for basis in bases}) > 1:
        return f"{name} has bases of different lengths"
    if any(len(basis) > _MOST_RANK or not all(0 <= step < _MOST_STEP for step in basis) for basis in bases):
        return f"{name} has a basis outside any tensor"
    return None


def _linear(layout: kinds.Linear) -> str | None:
    named = {"register": layout.register, "lane": layout.lane, "warp": layout.warp, "block": layout.block}
    ranks = {len(basis) for found in named.values() for basis in found}
    if len(ranks) > 1:
        return "register, lane and warp have bases of different lengths"
    return (
        _lanes("lane", 1 << min(len(layout.lane), 200))
        or _bases("register", layout.register, MOST_REGISTERS)
        or _bases("lane", layout.lane, 64)
        or _bases("warp", layout.warp, MOST_WARPS)
        or _bases("block", layout.block, MOST_WARPS)
    )


def _swizzled(layout: kinds.SwizzledShared | kinds.RotatingShared) -> str | None:
    fields = {"vec": layout.vec, "perPhase": layout.per_phase, "maxPhase": layout.max_phase}
    wrong = next((why for name, size in fields.items() if (why := _powers(name, (size,))) is not None), None)
    return wrong or _order(layout.order, len(layout.order))


def _padded(layout: kinds.PaddedShared) -> str | None:
    if any(not (0 < interval <= _MOST_STEP and 0 <= padding <= _MOST_SIZE) for interval, padding in layout.paddings):
        return "a padding has an impossible interval or size"
    if len(layout.paddings) > _MOST_RANK * 2:
        return f"{len(layout.paddings)} paddings"
    if any(not 0 < size < _MOST_STEP for size in layout.shape):
        return "shape has an impossible size"
    return _order(layout.order, len(layout.order)) or _bases("offset", layout.offset, _MOST_STEP)


def _shared_linear(layout: kinds.SharedLinear) -> str | None:
    return _bases("offset", layout.offset, _MOST_STEP) or _bases("block", layout.block, MOST_WARPS)


_CHECKS: Mapping[type, Callable[[Any], str | None]] = {
    kinds.Blocked: _blocked,
    kinds.Slice: _slice,
    kinds.Mfma: _matrix,
    kinds.Wmma: _matrix,
    kinds.DotOperand: _dot,
    kinds.Linear: _linear,
    kinds.SwizzledShared: _swizzled,
    kinds.RotatingShared: _swizzled,
    kinds.PaddedShared: _padded,
    kinds.SharedLinear: _shared_linear,
}
