"""Classes for Triton's layouts: the distribution of tensors over registers, lanes and warps, and of buffers in LDS.

Names and meanings follow Triton's ``TritonGPUAttrDefs.td``. Unsupported layouts are kept as :class:`RawLayout`, so that
the output of newer compilers can still be read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Bases: TypeAlias = tuple[tuple[int, ...], ...]
"""Linear-layout bases, one per index bit: the offset in elements along each tensor dimension that the bit adds."""


@dataclass(frozen=True)
class Blocked:
    """``#ttg.blocked``: each thread holds a block of adjacent elements, repeated over the tensor.

    Attributes:
        size_per_thread: elements per dimension in a thread's block.
        threads_per_warp: lanes per dimension.
        warps_per_cta: warps per dimension.
        order: dimensions, starting with the fastest-varying one.
    """

    size_per_thread: tuple[int, ...]
    threads_per_warp: tuple[int, ...]
    warps_per_cta: tuple[int, ...]
    order: tuple[int, ...]


@dataclass(frozen=True)
class Slice:
    """``#ttg.slice``: the parent's layout with one dimension removed."""

    dim: int
    parent: "Layout"


@dataclass(frozen=True)
class Mfma:
    """``#ttg.amd_mfma``: the result of matrix-core instructions on CDNA.

    Attributes:
        version: 1 for gfx908, 2 for gfx90a, 3 for gfx942, 4 for gfx950.
        warps_per_cta: warps per dimension.
        instr_shape: M, N and, in newer compilers, K of one instruction.
        is_transposed: whether operands are swapped so that a lane holds adjacent elements along N.
        tiles_per_warp: adjacent instruction tiles covered by a warp, per dimension.
        element_bits: bits of an accumulator element; 32 if the text does not specify it.
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
        version: 1 for gfx11, 2 for gfx12, 3 for gfx1250.
        warps_per_cta: warps per dimension; empty if the text contains ``warp_bases``.
        instr_shape: M, N, K of one instruction.
        is_transposed: whether operands are swapped.
        tiles_per_warp: as in :class:`Mfma`.
        warp_bases: linear-layout bases that distribute the warps; only newer compilers write them.
        register_bases: linear-layout bases that distribute one warp's instruction tiles; only newer compilers write
            them.
        rank: number of tensor dimensions, if the text contains it.
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
    """``#ttg.dot_op``: an operand of ``tt.dot`` in the layout that the parent's instruction requires.

    Attributes:
        index: operand index, 0 for A, 1 for B.
        parent: layout of the result.
        k_width: adjacent elements along K in one lane; 0 if not specified.
    """

    index: int
    parent: "Layout"
    k_width: int = 0


@dataclass(frozen=True)
class Linear:
    """``#ttg.linear``: the general distributed layout, with one basis per index bit."""

    register: Bases
    lane: Bases
    warp: Bases
    block: Bases = ()


@dataclass(frozen=True)
class SwizzledShared:
    """``#ttg.swizzled_shared``: LDS rows whose vector indices are XORed with the row's phase.

    Attributes:
        vec: elements per vector, which stay together.
        per_phase: consecutive rows with the same phase.
        max_phase: number of phases; 1 means no swizzling.
        order: dimensions, starting with the fastest-varying one.
    """

    vec: int
    per_phase: int
    max_phase: int
    order: tuple[int, ...]


@dataclass(frozen=True)
class RotatingShared:
    """``#ttg.amd_rotating_shared``: like :class:`SwizzledShared`, but the phase also advances with the block."""

    vec: int
    per_phase: int
    max_phase: int
    order: tuple[int, ...]


@dataclass(frozen=True)
class PaddedShared:
    """``#ttg.padded_shared``: LDS with ``padding`` elements inserted after every ``interval`` elements.

    Attributes:
        paddings: (interval, padding) pairs, in elements.
        order: dimensions, starting with the fastest-varying one; empty if the text contains bases.
        shape: shape for which the layout was created, if the text contains it.
        offset: linear bases of the offset in LDS, if the text contains them.
        block: linear bases over the workgroups of a cluster.
    """

    paddings: tuple[tuple[int, int], ...]
    order: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    offset: Bases = ()
    block: Bases = ()


@dataclass(frozen=True)
class SharedLinear:
    """``#ttg.shared_linear``: placement in LDS, with one basis per index bit."""

    offset: Bases
    block: Bases = ()
    alignment: int = 16


@dataclass(frozen=True)
class RawLayout:
    """A layout that kprof does not model.

    Attributes:
        kind: name of the attribute, such as ``nvmma_shared``.
        text: text of the attribute as written, without the alias.
        fields: fields that could be parsed.
        why: reason why a layout of a supported kind is impossible, else "".
    """

    kind: str
    text: str
    fields: Mapping[str, Any] = field(default_factory=dict, compare=False)
    why: str = ""


DistributedLayout: TypeAlias = Blocked | Slice | Mfma | Wmma | DotOperand | Linear
SharedLayout: TypeAlias = SwizzledShared | RotatingShared | PaddedShared | SharedLinear
Layout: TypeAlias = DistributedLayout | SharedLayout | RawLayout
