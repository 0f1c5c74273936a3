"""Find each pass of a value through LDS in a TTGIR module: its write, its reads, and the value's previous pass."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kprof.inputs.mlir import MemDesc, Module, Operation, Scalar, TensorType, Type
from kprof.inputs.mlir.measures import copies_to_lds, is_in_lds, is_view, makes_buffer, reads_lds, writes_lds
from kprof_analyzers.memory.dataflow import Dataflow, flow_of
from kprof_analyzers.memory.linear_layout import WARP, UnknownLayoutError, linear
from kprof_analyzers.source_lines import location_of

_PRODUCTS = {"tt.dot", "tt.dot_scaled", "tt.reduce", "tt.scan", "ttng.warp_group_dot", "ttng.tc_gen5_mma"}
_CONVERSION = "ttg.convert_layout"
_MOST_UNDEFINED = 16
_MOST_LINKED = 64
"""Passes are linked across missing lines only in texts with up to this number of passes, such as excerpts."""


@dataclass(frozen=True)
class LdsPass:
    """One pass of a value through LDS: a write, and the reads that load the value again.

    Attributes:
        value: name of the value that is written, or of the result of an asynchronous copy; "" if the module's text
            does not name it.
        shape: shape and element type of the value, ``64x32xf16``.
        bytes: size of the value; ``None`` if its element type has no known width.
        write: number of the line in the module's text that writes it.
        reads: numbers of the lines that read it.
        operation: the operation that writes it, as spelled in the text.
        source: line of the user's program, ``attention.py:47``; "" when the text does not contain it.
        earlier: index of the previous pass of the same value, if only element-wise operations lie between the two
            passes; ``None`` when there is no such pass.
        undefined: names that the text uses but does not define. If ``earlier`` was found through them, it is likely
            but not certain.
    """

    value: str
    shape: str
    bytes: int | None
    write: int
    reads: tuple[int, ...]
    operation: str
    source: str = ""
    earlier: int | None = None
    undefined: tuple[str, ...] = ()


@dataclass(frozen=True)
class LdsWalk:
    """All passes through LDS in a module.

    Attributes:
        passes: the passes, in the order of the text.
        unknown_conversions: number of layout conversions that may go through LDS; it is unknown because the text lacks
            their layouts.
    """

    passes: tuple[LdsPass, ...]
    unknown_conversions: int

    @property
    def chains(self) -> tuple[tuple[int, ...], ...]:
        """Chains of two or more consecutive passes of the same value through LDS, as indices into ``passes``."""
        earlier = [one.earlier for one in self.passes]
        found = []
        for last in range(len(earlier)):
            chain = [last]
            while (before := earlier[chain[-1]]) is not None and before < chain[-1]:
                chain.append(before)
            if len(chain) > 1 and last not in earlier:
                found.append(tuple(reversed(chain)))
        return tuple(found)


def walk_lds(module: Module) -> LdsWalk:
    """Follow every value that a module takes through LDS."""
    flow = flow_of(module)
    readers = _readers(flow)
    writes = [op for op in module.operations if writes_lds(op) or copies_to_lds(op) or converts_in_lds(op)]
    numbers = {op.index: number for number, op in enumerate(writes)}
    written_before = {reader.index: op for op in reversed(writes) for reader in readers.get(op.index, ())}
    passes = []
    for op in writes:
        before = earlier_read(flow, op) if not copies_to_lds(op) else None
        source = written_before.get(before[0].index) if before is not None else None
        earlier = numbers[source.index] if source is not None and source.index < op.index else None
        passes.append(_described(flow, op, readers.get(op.index, ()), earlier))
    if not module.functions and len(writes) <= _MOST_LINKED:
        passes = list(_linked(flow, writes, readers, passes))
    conversions = [op for op in module.named(_CONVERSION) if not any(map(is_in_lds, op.types))]
    return LdsWalk(tuple(passes), sum(crosses_wavefronts(op) is None for op in conversions))


def earlier_read(flow: Dataflow, op: Operation, smallest: int = 0) -> tuple[Operation, list[Operation]] | None:
    """Find the LDS read whose value an operation writes to LDS again.

    Only element-wise operations may lie in between: neither products nor reductions. The read must be in the same
    iteration.

    Args:
        flow: data flow of the operation's module.
        op: operation that writes a value from registers to LDS.
        smallest: reads of fewer bytes are ignored.

    Returns:
        The read, and every operation between it and the write; ``None`` if there is no such read.
    """

    def reads(one: Operation) -> bool:
        return (reads_lds(one) or converts_in_lds(one)) and _register_bytes(one) >= smallest

    between = list(flow.back(flow.input(op, 0), stop=lambda o: reads(o) or o.name in _PRODUCTS, carried=False))
    if any(one.name in _PRODUCTS for one in between):
        return None
    first = next((one for one in between if reads(one) and one.loop == op.loop), None)
    return None if first is None else (first, between)


def converts_in_lds(op: Operation) -> bool:
    """Return whether a conversion between register layouts writes and reads a scratch buffer in LDS."""
    return op.name == _CONVERSION and not any(map(is_in_lds, op.types)) and crosses_wavefronts(op) is True


def _readers(flow: Dataflow) -> Mapping[int, list[Operation]]:
    """Map the index of each operation that writes to LDS to the operations that read the written data."""
    found: dict[int, list[Operation]] = {}
    for op in flow.module.operations:
        if converts_in_lds(op):
            found.setdefault(op.index, []).append(op)
        elif reads_lds(op):
            for writer in _writers(flow, op):
                found.setdefault(writer.index, []).append(op)
    return found


def _writers(flow: Dataflow, read: Operation) -> Iterator[Operation]:
    """Yield the operations that wrote the buffers that an operation reads."""
    seen: set[int] = set()
    for value in flow.inputs(read):
        for source in flow.back(value, stop=lambda o: not is_view(o)):
            writes = writes_lds(source) or copies_to_lds(source)
            for writer in [source] if writes else flow.writers(source) if makes_buffer(source) else []:
                if writer.index not in seen:
                    seen.add(writer.index)
                    yield writer


def _described(flow: Dataflow, op: Operation, reads: "list[Operation] | tuple[()]", earlier: int | None) -> LdsPass:
    kind = _carried_type(op)
    # Use the value's name in the text, without the suffix by which Dataflow distinguishes equal names.
    value = op.results[0] if copies_to_lds(op) and op.results else flow.input(op, 0).partition("@")[0]
    place = location_of(op)[0]
    return LdsPass(
        value=value,
        shape="x".join([*map(str, kind.shape), getattr(kind.element, "name", "?")]) if kind is not None else "",
        bytes=kind.bytes if kind is not None else None,
        write=op.line,
        reads=tuple(dict.fromkeys(read.line for read in reads)),
        operation=op.spelling,
        source=str(place) if place is not None else "",
        earlier=earlier,
    )


def _carried_type(op: Operation) -> TensorType | MemDesc | None:
    """Return the type of an operation's register tensor, or the type of its LDS buffer if it has no register tensor."""
    kinds = [kind for kind in op.types if isinstance(kind, TensorType | MemDesc)]
    return next((kind for kind in kinds if not is_in_lds(kind) and _has_width(kind)), None) or next(iter(kinds), None)


def _has_width(kind: Type) -> bool:
    return isinstance(kind, TensorType) and hasattr(kind.element, "name")


def _register_bytes(op: Operation) -> int:
    return next((kind.bytes or 0 for kind in op.result_types if isinstance(kind, TensorType)), 0)


def _linked(
    flow: Dataflow, writes: list[Operation], readers: Mapping[int, list[Operation]], passes: list[LdsPass]
) -> Iterator[LdsPass]:
    """Link passes across lines that are missing from an excerpt.

    If a value depends on names that the excerpt does not define, it probably comes from an earlier LDS read whose
    result the excerpt does not use. The last read of this kind is assumed to be its source.
    """
    used = {name for op in flow.module.operations for name in flow.inputs(op)}
    for number, (op, one) in enumerate(zip(writes, passes, strict=True)):
        undefined = sorted(name for name in flow.roots(flow.input(op, 0), _PRODUCTS) if "@" not in name)
        candidates = [
            before
            for before in range(number)
            if any(
                _ends_unused(flow, read, used) and read.index < op.index
                for read in readers.get(writes[before].index, ())
            )
        ]
        if one.earlier is None and undefined and candidates and not copies_to_lds(op):
            yield replace(one, earlier=candidates[-1], undefined=tuple(undefined[:_MOST_UNDEFINED]))
        else:
            yield one


def _ends_unused(flow: Dataflow, read: Operation, used: set[str]) -> bool:
    """Return whether the value derived from a read is not used anywhere in the text."""
    made = set(flow.results(read))
    last = read
    for op in flow.module.operations[read.index + 1 :]:
        if made & set(flow.inputs(op)) and op.name not in _PRODUCTS:
            made |= set(flow.results(op))
            last = op
    return bool(flow.results(last)) and not set(flow.results(last)) & used


def crosses_wavefronts(operation: Operation) -> bool | None:
    """Return whether a layout conversion moves data between wavefronts; ``None`` if its layouts are unknown."""
    types = (*operation.operand_types, *operation.result_types)
    if len(types) != 2 or not all(isinstance(t, TensorType) and isinstance(t.element, Scalar) for t in types):
        return None
    source, target = types
    assert isinstance(source, TensorType)
    assert isinstance(target, TensorType)
    if source.layout is None or target.layout is None:
        return None
    try:
        one, other = linear(source.layout, source.shape), linear(target.layout, target.shape)
    except UnknownLayoutError:
        return None
    # A basis of zeros means that wavefronts hold copies of the same elements, which need not move.
    pairs = zip(one.bases[WARP], other.bases[WARP], strict=False)
    return any(any(held) and held != wanted for held, wanted in pairs)
