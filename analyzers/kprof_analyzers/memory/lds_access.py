"""Compute the width and bank conflicts of each LDS access of a kernel, from the layouts in its TTGIR."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import AssemblyKernel
from kprof.inputs.mlir import MemDesc, Module, Operation, Scalar, TensorType
from kprof.inputs.mlir.layouts import Layout
from kprof_analyzers.memory.bank_conflicts import BankCost, PhasesUnknownError, access_cost
from kprof_analyzers.memory.linear_layout import LANE, REGISTER, WARP, Basis, UnknownLayoutError, linear
from kprof_analyzers.memory.shared_offsets import Placement, is_linear, placement
from kprof_analyzers.scheduling.loops import beside_arithmetic
from kprof_analyzers.source_lines import line_of

_WIDEST = 16
_MOST_ELEMENTS = 1 << 20
"""Tensors in LDS with more elements are ignored as invalid, because an LDS has at most 320 KiB."""


@dataclass(frozen=True)
class LdsAccess:
    """Cost of one ``ttg.local_load``, ``ttg.local_store`` or initialised ``ttg.local_alloc``, for one wavefront.

    Attributes:
        operation: the TTGIR operation.
        write: whether the access writes LDS.
        width: bytes that a lane moves with one instruction.
        instructions: number of LDS instructions per wavefront, before the assembler pairs them (``ds_read2_b64``).
        cost: bank cycles of all instructions together; ``None`` if the lane groups are unknown.
        reason: reason why ``cost`` is unknown; ``None`` if it is known.
        likely: like ``cost``; if that is unknown, the cost of a read of the same width. Used for estimates, not for
            findings.
    """

    operation: Operation
    write: bool
    width: int
    instructions: int
    cost: BankCost | None
    reason: str | None = None
    likely: BankCost | None = None


def lds_accesses(module: Module, arch: Architecture) -> Iterator[LdsAccess]:
    """Yield every LDS access of a module whose layouts are supported.

    Layout conversions through scratch LDS are not included, because the compiler chooses that memory's layout itself.
    """
    for operation in module.named("ttg.local_load", "ttg.local_store", "ttg.local_alloc"):
        found = _sides(operation)
        if found is None:
            continue
        tensor, buffer, write = found
        assert isinstance(tensor.element, Scalar)
        assert tensor.layout is not None
        assert buffer.layout is not None
        allocated = buffer.alloc_shape[-len(buffer.shape) :] or buffer.shape
        size = (tensor.element.bits or 32) // 8 or 1
        held, placed = (tensor.layout, tensor.shape), (buffer.layout, tuple(allocated))
        try:
            width, instructions, cost, reason = _cost(held, placed, size, arch.name, write=write)
        except UnknownLayoutError:
            continue
        likely = cost if cost is not None or not write else _cost(held, placed, size, arch.name, write=False)[2]
        yield LdsAccess(operation, write, width, instructions, cost, reason, likely)


def _sides(operation: Operation) -> tuple[TensorType, MemDesc, bool] | None:
    """Return the types of an access's register tensor and LDS buffer, and whether it writes LDS."""
    tensors = [t for t in operation.types if isinstance(t, TensorType)]
    buffers = [t for t in operation.types if isinstance(t, MemDesc)]
    if len(tensors) != 1 or len(buffers) != 1 or not isinstance(tensors[0].element, Scalar):
        return None
    if tensors[0].layout is None or buffers[0].layout is None or tensors[0].shape != buffers[0].shape:
        return None
    if tensors[0].elements > _MOST_ELEMENTS:
        return None
    return tensors[0], buffers[0], operation.name != "ttg.local_load"


@lru_cache(maxsize=512)
def _cost(
    held: tuple[Layout, tuple[int, ...]], placed: tuple[Layout, tuple[int, ...]], size: int, arch: str, *, write: bool
) -> tuple[int, int, BankCost | None, str | None]:
    """Return width, number of instructions, cost and reason, as in :class:`LdsAccess`.

    Results are cached, because unrolled loops repeat accesses.
    """
    from kprof.hardware.machine import load

    layout, shape = held
    machine = load(arch)
    registers = linear(layout, shape)
    place = placement(*placed)
    elsewhere = [basis for name in (LANE, WARP) for basis in registers.bases[name]]
    vector, others = _split(registers.bases[REGISTER], elsewhere, place, size)
    width, count = vector * size, 1 << len(others)
    total = BankCost(0, 0)
    known: dict[tuple[int, ...], BankCost] = {}
    try:
        for offsets in _offsets(others, registers.bases[LANE], place, len(shape), linear=is_linear(*placed)):
            # A shift of all lanes by the same number of dwords only moves conflicts to other banks, so the costs are
            # equal.
            start = offsets[0] * size // 4 * 4
            addresses = tuple([offset * size - start for offset in offsets])
            if addresses not in known:
                known[addresses] = access_cost(addresses, width, machine, write=write)
            total = total + known[addresses]
    except PhasesUnknownError as error:
        return width, count, None, str(error)
    return width, count, total, None


def _offsets(
    groups: Sequence[Basis], lanes: Sequence[Basis], place: Placement, rank: int, *, linear: bool
) -> Iterator[list[int]]:
    """Yield the LDS offsets of all lanes, in elements, one list for each LDS instruction of the access.

    Args:
        groups: basis vectors by which the instructions of the access differ.
        lanes: basis vectors by which the lanes differ.
        place: function that maps an element's coordinates to its LDS offset.
        rank: number of tensor dimensions.
        linear: whether ``place`` is linear over exclusive-or, which allows a faster computation.
    """
    if linear:
        apart = _spanned([place(basis) for basis in lanes])
        for first in _spanned([place(basis) for basis in groups]):
            yield [first ^ lane for lane in apart]
        return
    elements = _combinations(lanes, rank)
    for group in _combinations(groups, rank):
        yield [place(_xor(group, element)) for element in elements]


def _spanned(bases: Sequence[int]) -> list[int]:
    """Return the exclusive-or of every subset of the numbers."""
    found = [0]
    for basis in bases:
        found += [number ^ basis for number in found]
    return found


def _split(bases: Sequence[Basis], elsewhere: Sequence[Basis], place: Placement, size: int) -> tuple[int, list[Basis]]:
    """Return the elements per lane that one instruction moves, and the register bases that need more instructions.

    The compiler may use registers in any order, so every register basis that continues a run of adjacent elements in
    LDS widens the access. The run must begin at a multiple of its length for every lane. A swizzle with shorter vectors
    ends the run.
    """
    left = [basis for basis in bases if any(basis)]
    vector = 1
    while vector * size < _WIDEST:
        following = next((basis for basis in left if place(basis) == vector), None)
        if following is None:
            break
        others = [basis for basis in (*left, *elsewhere) if basis is not following]
        if any(place(basis) & vector for basis in others):
            break
        left.remove(following)
        vector *= 2
    return vector, left


def _combinations(bases: Sequence[Basis], rank: int) -> list[Basis]:
    """Return the exclusive-or of every subset of the bases."""
    found: list[Basis] = [(0,) * rank]
    for basis in bases:
        found += [_xor(element, basis) for element in found]
    return found


def _xor(one: Basis, other: Basis) -> Basis:
    return tuple(a ^ b for a, b in zip(one, other, strict=True))


def transposed_lines(program: AssemblyKernel) -> set[tuple[str, int]]:
    """Return the source lines whose LDS reads the hardware transposes (``ds_read_b64_tr_b16``).

    The lanes of such a read exchange data, so the register layout alone does not determine its addresses. Therefore its
    cost is not computed.
    """
    places = (
        line_of(i) for i in beside_arithmetic(program) if "_tr" in i.opcode.name and i.opcode.name.startswith("ds_")
    )
    return {place for place in places if place is not None}
