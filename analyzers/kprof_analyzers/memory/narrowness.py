"""Why a load from global memory, or a store, is narrow, as far as its TTGIR tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.addressing import address, base, element_bytes, pointer, strides, tile
from kprof_analyzers.memory.alignment import (
    given_divisors,
    known_alignment,
    mask_is_constant,
    pointer_from_memory,
)
from kprof_analyzers.memory.dataflow import Dataflow, argument, arguments, flow_of, is_load
from kprof_analyzers.memory.linear_layout import REGISTER, UnknownLayoutError, linear
from kprof_analyzers.memory.spare_lanes import lanes_of
from kprof_analyzers.source_lines import location_of

# What a tile's number is computed with says nothing of the tile's first address, which is a multiple of its size.
_ENDS = ("arith.divsi", "arith.remsi", "arith.minsi", "arith.maxsi", "tt.load", "tt.make_range")
_ALIGNED = 16
_SPREAD = frozenset({"tt.splat", "tt.broadcast", "ttg.convert_layout", "arith.extsi", "arith.trunci"})
_OF_MASKS = frozenset({"arith.andi", "arith.cmpi", "tt.broadcast", "tt.expand_dims", "ttg.convert_layout"})
_DEPTH = 50
# What one wavefront of 64 lanes fetches with a single wide load. Tiles below it are scales, indices, rows of maxima.
_SMALL_BYTES = 1024
_THIN = 4
_PASSED = "passed as a new argument"
CONTIGUOUS_LAST = "make the axis that is contiguous in memory the last axis of the block, and pass its stride as 1"
"""What to do where no axis of a block is contiguous in memory."""


@dataclass(frozen=True)
class NarrowCause:
    """One thing that keeps an access narrow; two accesses with an equal one are fixed together.

    Attributes:
        words: a clause.
        values: values that it comes from, where the words do not tell them.
        fix: what to change in the kernel's code; no part of what makes two causes equal.
        lacking: arguments that are not known to be a multiple of 16.
        bounds: arguments that the mask compares with, where the mask is the cause.
    """

    words: str
    values: tuple[str, ...] = ()
    fix: str = field(default="", compare=False)
    lacking: tuple[str, ...] = ()
    bounds: frozenset[str] = frozenset()

    def fix_for(self, arguments: Mapping[str, int | float]) -> str:
        """Return the fix for a launch with these arguments: a hint that its values make untrue is not given."""
        if self.bounds and self.bounds <= arguments.keys():
            padded = ", ".join(f"{_padded(name)} = {_rounded_up(arguments[name])}" for name in sorted(self.bounds))
            return self.fix.replace(_PASSED, f"{_PASSED} ({padded})")
        wrong = [name for name in self.lacking if arguments.get(name, 0) % _ALIGNED]
        if not wrong:
            return self.fix
        padded = ", ".join(f"{name} {int(arguments[name]):,} → {_rounded_up(arguments[name]):,}" for name in wrong)
        return f"pad the rows to a multiple of {_ALIGNED} elements ({padded}) and type {_hint(self.lacking)}"


def _padded(bound: str) -> str:
    """The name for a bound that counts the padding; the bound itself may be counted with, as a mean's divisor is."""
    return f"{bound}_PADDED"


def _rounded_up(value: float) -> int:
    return -(-int(value) // _ALIGNED) * _ALIGNED


def _hint(names: Sequence[str], divisor: int = _ALIGNED) -> str:
    return ", ".join(f"{name} = tl.multiple_of({name}, {divisor})" for name in names)


def loads_needed(loads: Sequence[Operation]) -> int:
    """16-byte loads a lane that the tiles of these loads take at least: each is loaded on its own, by all wavefronts.

    Zero where nothing can be gained: together they are no more than a wavefront fetches at once (a scale, an index, a
    row of maxima), or a lane holds no more than 4 bytes of each.
    """
    lanes = lanes_of(loads[0].module)
    sizes = [held.elements * (element_bytes(load) or 1) for load in loads if (held := tile(load)) is not None]
    if sum(sizes) < _SMALL_BYTES or all(_bytes_held(load) <= _THIN for load in loads):
        return 0
    return sum(-(-size // (_ALIGNED * lanes)) for size in sizes)


def _bytes_held(load: Operation) -> int:
    """Bytes of the tile in the registers of a lane; as many as a wide load fetches where the layout is not known."""
    held, size = tile(load), element_bytes(load) or 1
    if held is None or held.layout is None:
        return _ALIGNED
    try:
        layout = linear(held.layout, held.shape)
    except UnknownLayoutError:
        return _ALIGNED
    return size << sum(any(basis) for basis in layout.bases[REGISTER])


def causes_of(access: Operation) -> tuple[NarrowCause, ...]:
    """Why a load or store is narrow; nothing where nothing can be said for sure.

    In this order: no axis is contiguous in memory; rows are short; the address is not known to be a multiple of 16
    bytes, and the mask changes inside what could be one access, which are both named where both hold.
    """
    found, size, held = strides(access), element_bytes(access), tile(access)
    if found and all(step is not None and step.value({}) != 1 for step in found.values()):
        steps = [str(step) for step in found.values()]
        fix = contiguous_fix(access, [step for step in steps if step.isidentifier()])
        return (NarrowCause(f"no axis is contiguous in memory (steps of {', '.join(steps)} elements)", fix=fix),)
    if size is not None and size >= _ALIGNED:
        return ()
    axis = next((a for a, step in (found or {}).items() if step is not None and step.value({}) == 1), None)
    if axis is not None and held is not None and size is not None and held.shape[axis] * size < _ALIGNED:
        fix = f"make the block at least {-(-_ALIGNED // size)} elements long on its contiguous axis"
        return (NarrowCause(f"rows of the tile have {held.shape[axis] * size} bytes", fix=fix),)
    mask, misaligned = mask_of(access), _misaligned(access, axis)
    causes = [] if misaligned is None else [misaligned]
    if mask is not None and _varies(access, mask, axis):
        roots = tuple(sorted(flow_of(access.module).roots(mask)))
        elements = _ALIGNED // (size or 1)
        bounds, where = _bounds(access.module, mask, axis)
        padded = [_padded(name) for name in bounds] or ["PADDED"]
        hints = " and ".join(f"tl.multiple_of({name}, {elements})" for name in padded)
        fix = f"in the mask of the access{where}, {' and '.join(bounds) or 'the bound'} → {hints}, {_PASSED}"
        if is_load(access):
            bound = bounds[0] if len(bounds) == 1 else "bound"
            fix += f"; behind the load, x = tl.where(offsets < {bound}, x, other) keeps the padding out"
        causes.append(NarrowCause("its mask may change inside 16 bytes", roots, fix, bounds=frozenset(bounds)))
    return tuple(causes)


def contiguous_fix(access: Operation, steps: Sequence[str] = ()) -> str:
    """Return what makes an access's block contiguous in memory, in the kernel or, for a load, on the host.

    Args:
        access: a load or store of the TTGIR.
        steps: arguments of which one would be 1.
    """
    last = CONTIGUOUS_LAST.replace("its stride as 1", f"1 as {' or '.join(steps)}") if steps else CONTIGUOUS_LAST
    names = base(access) if is_load(access) else ()
    if len(names) != 1:
        return last
    return f"{last}; or on the host {names[0]} = {names[0]}.mT.contiguous(), and swap the strides of its axes"


def _misaligned(load: Operation, axis: int | None) -> NarrowCause | None:
    """Why the address does not allow wide accesses: the arguments that are to blame, or what is known at most."""
    known = None if axis is None else known_alignment(load, axis, _ALIGNED)
    if known == _ALIGNED:
        return None
    lacking = _not_divisible(load)
    if lacking:
        verb = "are" if len(lacking) > 1 else "is"
        words = f"{' and '.join(lacking)} {verb} not known to be a multiple of {_ALIGNED}"
        return NarrowCause(words, fix=f"if it holds, tell the compiler: {_hint(lacking)}", lacking=tuple(lacking))
    if known is None:
        return None
    loaded = pointer_from_memory(load)
    if loaded is not None:
        return NarrowCause(
            f"its pointer {loaded} comes from memory, so that it is not known to be a multiple of {_ALIGNED} bytes",
            fix=f"if it holds, tell the compiler: {_hint([loaded])}",
        )
    return NarrowCause(
        f"its address is only known to be a multiple of {known} bytes",
        fix="wrap the offsets: tl.max_contiguous(tl.multiple_of(offsets, BLOCK), BLOCK)",
    )


def _not_divisible(load: Operation) -> list[str]:
    """Arguments in the address that have no divisibility, in the order of the signature."""
    flow = flow_of(load.module)
    value, base = address(load), pointer(load)
    if value is None or base is None:
        return []
    divisible = {name for name, by in given_divisors(load.module).items() if by % _ALIGNED == 0}
    roots = {argument(root) for start in (value, base) for root in flow.roots(start, _ENDS)}
    return [name for name in arguments(load.module) if name in roots and name not in divisible]


def mask_of(load: Operation) -> str | None:
    """The mask: the first operand behind the address."""
    values, where = flow_of(load.module).inputs(load), address(load)
    at = values.index(where) + 1 if where in values else len(values)
    return values[at] if at < len(values) else None


def _bounds(module: Module, mask: str, axis: int | None) -> tuple[list[str], str]:
    """Arguments that offsets along an axis of a mask are compared with; along any where that axis is not known.

    With them the place where they are compared, as `` (k.py:12)``; nothing where that is not one line.
    """
    flow, known, found = flow_of(module), set(arguments(module)), set[str]()
    places: set[str] = set()
    waiting = [(mask, axis)]
    while waiting:
        value, along = waiting.pop()
        op = flow.producer(value)
        if op is None or op.name not in _OF_MASKS:
            continue
        differs = _axes(flow, value)
        if along is not None and differs is not None and along not in differs:
            continue
        if op.name == "tt.expand_dims" and along is not None:
            at = op.attributes.get("axis")
            along -= isinstance(at, int) and along > at
        if op.name == "arith.cmpi":
            found |= {name for one in flow.inputs(op) if (name := argument(_spread(flow, one))) in known}
            places |= {str(place)} if (place := location_of(op)[0]) is not None else set()
        waiting += [(one, along) for one in flow.inputs(op)]
    return sorted(found), f" ({places.pop()})" if len(places) == 1 else ""


def _spread(flow: Dataflow, value: str) -> str:
    """The one number that is in every element of a tensor; the tensor where it is none."""
    while (op := flow.producer(value)) is not None and op.name in _SPREAD:
        value = flow.input(op, 0)
    return value


def _varies(load: Operation, mask: str, axis: int | None) -> bool:
    """Whether a mask changes along the contiguous axis, or along any where that axis is not known."""
    flow = flow_of(load.module)
    if axis is not None:
        if mask_is_constant(load, mask, axis, _ALIGNED):
            return False
        along = _axes(flow, mask)
        if along is not None:
            return axis in along
    return any(op.name == "tt.make_range" for op in flow.back(mask))


def _axes(flow: Dataflow, value: str, depth: int = 0) -> set[int] | None:
    """Axes of a tensor along which its elements differ; ``None`` where that cannot be followed."""
    op = flow.producer(value)
    if op is None or depth > _DEPTH:
        return None
    if op.name == "tt.make_range":
        return {0}
    if op.name in {"tt.splat", "arith.constant"}:
        return set()
    if op.name == "tt.expand_dims":
        inner, at = _axes(flow, flow.input(op, 0), depth + 1), op.attributes.get("axis")
        return {a + (a >= at) for a in inner} if inner is not None and isinstance(at, int) else None
    if not op.name.startswith(("arith.", "tt.broadcast", "ttg.convert_layout")):
        return None
    found: set[int] = set()
    for source in flow.inputs(op):
        inner = _axes(flow, source, depth + 1)
        if inner is None:
            return None
        found |= inner
    return found
