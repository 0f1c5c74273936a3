"""How tensors are spread over registers, lanes and warps, and how buffers lie in LDS.

The names and meanings are those of Triton's ``TritonGPUAttrDefs.td``. A layout that is not known is kept as
:class:`RawLayout`, so that a newer compiler's output can still be read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Bases: TypeAlias = tuple[tuple[int, ...], ...]
"""Linear-layout bases: where each bit of the index moves, in elements of each tensor dimension."""


@dataclass(frozen=True)
class Blocked:
    """``#ttg.blocked``: every thread holds a block of neighbouring elements, repeated over the tensor.

    Attributes:
        size_per_thread: elements of a thread's block, per dimension.
        threads_per_warp: lanes per dimension.
        warps_per_cta: warps per dimension.
        order: dimensions from the fastest-varying one on.
    """

    size_per_thread: tuple[int, ...]
    threads_per_warp: tuple[int, ...]
    warps_per_cta: tuple[int, ...]
    order: tuple[int, ...]


@dataclass(frozen=True)
class Slice:
    """``#ttg.slice``: the parent's layout with one dimension taken out."""

    dim: int
    parent: "Layout"


@dataclass(frozen=True)
class Mfma:
    """``#ttg.amd_mfma``: the result of matrix-core instructions on CDNA.

    Attributes:
        version: 1 gfx908, 2 gfx90a, 3 gfx942, 4 gfx950.
        warps_per_cta: warps per dimension.
        instr_shape: M, N and, in newer compilers, K of one instruction.
        is_transposed: whether operands are swapped so that a lane holds neighbours along N.
        tiles_per_warp: instruction tiles that a warp covers next to each other, per dimension.
        element_bits: bits of an accumulator element, 32 where the text does not say.
    """

    version: int
    warps_per_cta: tuple[int, ...]
    instr_shape: tuple[int, ...]
    is_transposed: bool
    tiles_per_warp: tuple[int, ...] = ()
    element_bits: int = 32


@dataclass(frozen=True)
class Wmma:
    """``#ttg.amd_wmma``: the result of matrix instructions on RDNA 3 and later, and gfx1250.

    Attributes:
        version: 1 gfx11, 2 gfx12, 3 gfx1250.
        warps_per_cta: warps per dimension; empty where the text gives ``warp_bases``.
        instr_shape: M, N, K of one instruction.
        is_transposed: whether operands are swapped.
        tiles_per_warp: as in :class:`Mfma`.
        warp_bases: how warps are spread, in newer compilers.
        register_bases: how instruction tiles of one warp are spread, in newer compilers.
        rank: dimensions of the tensor, where the text says it.
    """

    version: int
    warps_per_cta: tuple[int, ...]
    instr_shape: tuple[int, ...]
    is_transposed: bool
    tiles_per_warp: tuple[int, ...] = ()
    warp_bases: Bases = ()
    register_bases: Bases = ()
    rank: int | None = None


@dataclass(frozen=True)
class DotOperand:
    """``#ttg.dot_op``: an operand of ``tt.dot`` as the parent's instruction wants it.

    Attributes:
        index: 0 for A, 1 for B.
        parent: layout of the result.
        k_width: neighbouring elements along K in one lane; 0 when not given.
    """

    index: int
    parent: "Layout"
    k_width: int = 0


@dataclass(frozen=True)
class Linear:
    """``#ttg.linear``: the general case, bit by bit."""

    register: Bases
    lane: Bases
    warp: Bases
    block: Bases = ()


@dataclass(frozen=True)
class SwizzledShared:
    """``#ttg.swizzled_shared``: LDS rows whose vectors are exclusive-ored with the row's phase.

    Attributes:
        vec: elements that stay together.
        per_phase: rows with the same phase.
        max_phase: number of phases; 1 means no swizzling.
        order: dimensions from the fastest-varying one on.
    """

    vec: int
    per_phase: int
    max_phase: int
    order: tuple[int, ...]


@dataclass(frozen=True)
class RotatingShared:
    """``#ttg.amd_rotating_shared``: as :class:`SwizzledShared`, with a phase that also moves on with the block."""

    vec: int
    per_phase: int
    max_phase: int
    order: tuple[int, ...]


@dataclass(frozen=True)
class PaddedShared:
    """``#ttg.padded_shared``: LDS with ``padding`` elements put in after every ``interval`` elements.

    Attributes:
        paddings: (interval, padding) pairs, in elements.
        order: dimensions from the fastest-varying one on; empty where the text gives bases.
        shape: shape that the layout was made for, where the text says it.
        offset: linear bases of the offset in LDS, where the text gives them.
        block: linear bases over workgroups of a cluster.
    """

    paddings: tuple[tuple[int, int], ...]
    order: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    offset: Bases = ()
    block: Bases = ()


@dataclass(frozen=True)
class SharedLinear:
    """``#ttg.shared_linear``: LDS placement bit by bit."""

    offset: Bases
    block: Bases = ()
    alignment: int = 16


@dataclass(frozen=True)
class RawLayout:
    """A layout that kprof does not know in detail.

    Attributes:
        kind: the attribute's name, ``nvmma_shared``.
        text: as written, without the alias.
        fields: what could be read of its fields.
        why: what is wrong with it, where it is of a known kind and cannot be.
    """

    kind: str
    text: str
    fields: Mapping[str, Any] = field(default_factory=dict, compare=False)
    why: str = ""


DistributedLayout: TypeAlias = Blocked | Slice | Mfma | Wmma | DotOperand | Linear
SharedLayout: TypeAlias = SwizzledShared | RotatingShared | PaddedShared | SharedLinear
Layout: TypeAlias = DistributedLayout | SharedLayout | RawLayout
