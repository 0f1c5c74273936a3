"""Derive the causes of narrow global loads and stores from the TTGIR."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kprof.inputs.mlir import Module, Operation, TensorType
from kprof_analyzers.memory.addressing import address, base, element_bytes, mask_of, pointer, strides, tile
from kprof_analyzers.memory.alignment import (
    given_divisors,
    known_alignment,
    mask_is_constant,
    pointer_from_memory,
)
from kprof_analyzers.memory.dataflow import Dataflow, argument, arguments, flow_of, is_load
from kprof_analyzers.memory.linear_layout import REGISTER, UnknownLayoutError, linear
from kprof_analyzers.memory.replication import lanes_of
from kprof_analyzers.source_lines import location_of

# The search for the arguments in an address does not follow the operands of these operations, because they do not
# affect the alignment of a tile's first address.
_ENDS = ("arith.divsi", "arith.remsi", "arith.minsi", "arith.maxsi", "tt.load", "tt.make_range")
ALIGNED = 16
_SPREAD = frozenset({"tt.splat", "tt.broadcast", "ttg.convert_layout", "arith.extsi", "arith.trunci"})
_OF_MASKS = frozenset({"arith.andi", "arith.cmpi", "tt.broadcast", "tt.expand_dims", "ttg.convert_layout"})
_CONSTANT = re.compile(r"dense<(-?\d+(?:\.\d+)?(?:e[-+]\d+)?)>")
_SUMS = frozenset({"arith.addi", "tt.addptr"})
_FOLLOWED = ("arith.", "tt.make_range", "tt.splat", "tt.expand_dims", "tt.broadcast", "ttg.convert_layout")
_ENDED = frozenset({"tt.make_range", "tt.splat", "arith.constant"})
# Bytes that a wavefront of 64 lanes loads with one wide load. Smaller tiles are scales, indices or maxima of rows.
_SMALL_BYTES = 1024
_THIN = 4
_PASSED = "a new argument"
_COPIED = "(a copy, not in the time)"
_IS_PADDED = "to which every tensor under it is padded"
CONTIGUOUS_LAST = "make the axis that is contiguous in memory the last axis of the block, and pass its stride as 1"
"""Fix for a block without any axis that is contiguous in memory."""


@dataclass(frozen=True)
class NarrowCause:
    """One cause that keeps an access narrow; accesses with equal causes need the same fix.

    Attributes:
        words: description of the cause, as a clause.
        values: values that the cause depends on and that ``words`` does not name.
        fix: what to change in the kernel's code; ignored when causes are compared.
        lacking: arguments that are not known to be multiples of 16.
        bounds: arguments that the mask compares with, if the mask is the cause.
        tensor: the argument whose memory is accessed, if there is exactly one.
    """

    words: str
    values: tuple[str, ...] = ()
    fix: str = field(default="", compare=False)
    lacking: tuple[str, ...] = ()
    bounds: frozenset[str] = frozenset()
    tensor: str = field(default="tensor", compare=False)

    def fix_for(self, arguments: Mapping[str, int | float]) -> str:
        """Return the fix for a launch with these arguments.

        Hints to the compiler that would be false for the arguments' values are left out.
        """
        if self.bounds and self.bounds <= arguments.keys():
            padded = ", ".join(f"{_padded(name)} = {rounded_up(arguments[name])}" for name in sorted(self.bounds))
            fix = self.fix.replace(_PASSED, f"{_PASSED} ({padded})")
            if len(self.bounds) > 1:
                return fix
            (more,) = (rounded_up(arguments[name]) - int(arguments[name]) for name in self.bounds)
            host = f"{self.tensor} = torch.nn.functional.pad({self.tensor}, (0, {more})) {_COPIED}"
            return fix.replace(_IS_PADDED, f"{_IS_PADDED} on the host, as {host}")
        wrong = [name for name in self.lacking if arguments.get(name, 0) % ALIGNED]
        if not wrong:
            return self.fix
        padded = ", ".join(f"{name} {int(arguments[name]):,} → {rounded_up(arguments[name]):,}" for name in wrong)
        return f"pad the rows to a multiple of {ALIGNED} elements ({padded}) and type {_hint(self.lacking)}"


def _padded(bound: str) -> str:
    """Return a name for the padded copy of a mask's bound.

    The original is kept, because it may be needed elsewhere, for example as a mean's divisor.
    """
    return f"{bound}_PADDED".lstrip("_")


def rounded_up(value: float) -> int:
    """Return the next multiple of 16, to which a size must be padded before a divisibility hint for it is true."""
    return -(-int(value) // ALIGNED) * ALIGNED


def _hint(names: Sequence[str], divisor: int = ALIGNED) -> str:
    return ", ".join(f"{name} = tl.multiple_of({name}, {divisor})" for name in names)


def loads_needed(loads: Sequence[Operation]) -> int:
    """Return the minimum number of 16-byte loads per lane for some tiles, each of which is loaded separately.

    Return 0 if wide loads gain nothing: the tiles together are no larger than one wide load of a wavefront (scales,
    indices, maxima of rows), or a lane holds at most 4 bytes of each tile.
    """
    lanes = lanes_of(loads[0].module)
    sizes = [held.elements * (element_bytes(load) or 1) for load in loads if (held := tile(load)) is not None]
    if sum(sizes) < _SMALL_BYTES or all(_bytes_held(load) <= _THIN for load in loads):
        return 0
    return sum(-(-size // (ALIGNED * lanes)) for size in sizes)


def _bytes_held(load: Operation) -> int:
    """Return the bytes of a load's tile that each lane holds; the width of a wide load if the layout is unknown."""
    held, size = tile(load), element_bytes(load) or 1
    if held is None or held.layout is None:
        return ALIGNED
    try:
        layout = linear(held.layout, held.shape)
    except UnknownLayoutError:
        return ALIGNED
    return size << sum(any(basis) for basis in layout.bases[REGISTER])


def causes_of(access: Operation) -> tuple[NarrowCause, ...]:
    """Return the causes that keep a load or store narrow; empty if no cause is certain.

    Causes are checked in this order: no axis is contiguous in memory; rows are short; the address is not known to be a
    multiple of 16 bytes, or the mask changes within 16 bytes. Only the first cause is returned, except that the last
    two are both returned if both are present.
    """
    found, size, held = strides(access), element_bytes(access), tile(access)
    if found and all(step is not None and step.value({}) != 1 for step in found.values()):
        steps = [str(step) for step in found.values()]
        fix = contiguous_fix(access, [step for step in steps if step.isidentifier()])
        return (NarrowCause(f"no axis is contiguous in memory (steps of {', '.join(steps)} elements)", fix=fix),)
    if size is not None and size >= ALIGNED:
        return ()
    axis = next((a for a, step in (found or {}).items() if step is not None and step.value({}) == 1), None)
    if axis is not None and held is not None and size is not None and held.shape[axis] * size < ALIGNED:
        fix = f"make the block at least {-(-ALIGNED // size)} elements long on its contiguous axis"
        return (NarrowCause(f"rows of the tile have {held.shape[axis] * size} bytes", fix=fix),)
    mask, misaligned = mask_of(access), _misaligned(access, axis)
    causes = [] if misaligned is None else [misaligned]
    if mask is not None and _varies(access, mask, axis):
        roots = tuple(sorted(flow_of(access.module).roots(mask)))
        elements = ALIGNED // (size or 1)
        bounds, offsets, where = _bounds(access.module, mask, axis)
        hints = [f"tl.multiple_of({name}, {elements})" for name in map(_padded, bounds or [""])]
        wide = f"a mask with {' and '.join(hints)} for {' and '.join(bounds) or 'its bound'}"
        if len(bounds) == 1 and offsets:
            wide = f"{offsets} < {hints[0]}"
        masked = f"load and store under {wide}{f' in place of the mask of {where}' if where else ''}"
        fix = f"{masked}, with {_PASSED} {_IS_PADDED}"
        if is_load(access):
            bound = bounds[0] if len(bounds) == 1 else "bound"
            value = _name(next(iter(access.results), "")) or "x"
            kept = f"tl.where({offsets or 'offsets'} < {bound}, {value}, {_other(access, mask)})"
            fix += f"; after the load, {value} = {kept} removes the padding"
        words, names = "its mask may change inside 16 bytes", base(access)
        tensor = names[0] if len(names) == 1 else "tensor"
        causes.append(NarrowCause(words, roots, fix, bounds=frozenset(bounds), tensor=tensor))
    return tuple(causes)


def contiguous_fix(access: Operation, steps: Sequence[str] = ()) -> str:
    """Return a fix that makes an access's block contiguous in memory, in the kernel or, for a load, on the host.

    Args:
        access: a load or store of the TTGIR.
        steps: names of stride arguments, one of which would be 1 after the fix.
    """
    last = CONTIGUOUS_LAST.replace("its stride as 1", f"1 as {' or '.join(steps)}") if steps else CONTIGUOUS_LAST
    names = base(access) if is_load(access) else ()
    if len(names) != 1:
        return last
    (name,) = names
    host = f"on the host {name} = {name}.mT.contiguous() {_COPIED}"
    if (swapped := _swapped(access, name)) is not None:
        return f"{host}, and in the kernel {swapped}"
    return f"{last}; or {host}, and swap the strides of its axes"


def _swapped(access: Operation, pointer_name: str) -> str | None:
    """Return the address of a block with exchanged steps, or None if the address has another form.

    A block at ``x + row + columns * stride`` becomes ``x + row * stride + columns``.
    """
    flow, start, held = flow_of(access.module), address(access), tile(access)
    if start is None or held is None or len(held.shape) != 1:
        return None
    rows, columns, steps = set[str](), set[str](), set[str]()
    waiting = [start]
    while waiting:
        value = _filling_scalar(flow, waiting.pop())
        op = flow.producer(value)
        if op is not None and op.name in _SUMS:
            waiting += flow.inputs(op)
        elif op is not None and op.name == "arith.muli":
            factor, step = (_name(_filling_scalar(flow, flow.input(op, number))) for number in (0, 1))
            steps.add(step)
            # A scalar product is no part of the tile's columns: the loop adds it to all of their offsets.
            columns |= {factor} if any(isinstance(kind, TensorType) for kind in op.result_types) else set()
        elif argument(value) != pointer_name:
            rows.add(_name(value))
    if any(len(names) != 1 or "" in names for names in (rows, columns, steps)):
        return None
    return f"{pointer_name} + {rows.pop()} * {steps.pop()} + {columns.pop()}"


def _misaligned(load: Operation, axis: int | None) -> NarrowCause | None:
    """Return the cause if the address does not allow wide accesses: arguments without alignment, or a low alignment."""
    known = None if axis is None else known_alignment(load, axis, ALIGNED)
    if known == ALIGNED:
        return None
    lacking = _not_divisible(load)
    if lacking:
        verb = "are" if len(lacking) > 1 else "is"
        words = f"{' and '.join(lacking)} {verb} not known to be a multiple of {ALIGNED}"
        return NarrowCause(words, fix=f"if it holds, tell the compiler: {_hint(lacking)}", lacking=tuple(lacking))
    if known is None:
        return None
    loaded = pointer_from_memory(load)
    if loaded is not None:
        return NarrowCause(
            f"its pointer {loaded} comes from memory, so that it is not known to be a multiple of {ALIGNED} bytes",
            fix=f"if it holds, tell the compiler: {_hint([loaded])}",
        )
    return NarrowCause(
        f"its address is only known to be a multiple of {known} bytes",
        fix="wrap the offsets: tl.max_contiguous(tl.multiple_of(offsets, BLOCK), BLOCK)",
    )


def _not_divisible(load: Operation) -> list[str]:
    """Return the arguments in the address that have no known divisibility, in the order of the signature."""
    flow = flow_of(load.module)
    value, base = address(load), pointer(load)
    if value is None or base is None:
        return []
    divisible = {name for name, by in given_divisors(load.module).items() if by % ALIGNED == 0}
    roots = {argument(root) for start in (value, base) for root in flow.roots(start, _ENDS)}
    return [name for name in arguments(load.module) if name in roots and name not in divisible]


def _bounds(module: Module, mask: str, axis: int | None) -> tuple[list[str], str, str]:
    """Return the arguments that bound a mask, the name of the compared offsets, and the source line of the comparison.

    Only comparisons along ``axis`` count; None means any axis. The name is that of the kernel's variable, and the line
    has the form ``k.py:12``. The name or the line is "" if the mask has comparisons with different ones.
    """
    flow, known, found = flow_of(module), set(arguments(module)), set[str]()
    places, offsets = set[str](), set[str]()
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
            for one in flow.inputs(op):
                name = argument(_filling_scalar(flow, one))
                (found if name in known else offsets).add(name if name in known else _name(one))
            places |= {str(place)} if (place := location_of(op)[0]) is not None else set()
        waiting += [(one, along) for one in flow.inputs(op)]
    name = offsets.pop() if len(offsets) == 1 else ""
    return sorted(found), name, places.pop() if len(places) == 1 else ""


def _other(load: Operation, mask: str) -> str:
    """Return the value of a load for masked elements: a number, or ``other`` if it is not a constant.

    If the load has no operand ``other``, the value is 0 or undefined, so 0 is returned.
    """
    flow = flow_of(load.module)
    values = flow.inputs(load)
    behind = values[values.index(mask) + 1 :]
    if not behind:
        return "0.0"
    op = flow.producer(behind[0])
    number = None if op is None else _CONSTANT.search(op.text)
    return "other" if number is None else str(float(number[1]))


def _name(value: str) -> str:
    """Return the kernel's name for a value without MLIR's numeric suffix, or "" if it has no name."""
    name = re.sub(r"_\d+$", "", argument(value))
    return name if name.isidentifier() else ""


def _filling_scalar(flow: Dataflow, value: str) -> str:
    """Return the scalar that fills a tensor, or the value itself if it is not a filled tensor."""
    while (op := flow.producer(value)) is not None and op.name in _SPREAD:
        value = flow.input(op, 0)
    return value


def _varies(load: Operation, mask: str, axis: int | None) -> bool:
    """Return whether a mask changes along the contiguous axis, or along any axis if the contiguous one is unknown."""
    flow = flow_of(load.module)
    if axis is not None:
        if mask_is_constant(load, mask, axis, ALIGNED):
            return False
        along = _axes(flow, mask)
        if along is not None:
            return axis in along
    return any(op.name == "tt.make_range" for op in flow.back(mask))


def _axes(flow: Dataflow, value: str) -> set[int] | None:
    """Return the axes along which a tensor's elements differ, or ``None`` if its operations cannot be followed."""
    found: set[int] = set()
    # Values to visit, each with the axes that tt.expand_dims inserts on the way to the tensor, the last one first.
    waiting: list[tuple[str, tuple[int, ...]]] = [(value, ())]
    seen = set(waiting)
    while waiting:
        value, made = waiting.pop()
        op = flow.producer(value)
        if op is None or not op.name.startswith(_FOLLOWED):
            return None
        if op.name == "tt.make_range":
            axis = 0
            for at in reversed(made):
                axis += axis >= at
            found.add(axis)
        if op.name in _ENDED:
            continue
        if op.name == "tt.expand_dims":
            new = op.attributes.get("axis")
            if not isinstance(new, int):
                return None
            made = (*made, new)
        sources = {(source, made) for source in flow.inputs(op)} - seen
        seen |= sources
        waiting += sources
    return found
