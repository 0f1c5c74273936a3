"""Data model of a TTIR or TTGIR module: operations with types, loops and source positions.

The reader finds only the operations and their nesting. Types, attributes and source positions are parsed on first use.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kprof.inputs.mlir.details import OperationDetails, Readers
from kprof.inputs.mlir.layout_text import read_layouts
from kprof.inputs.mlir.layouts import Layout
from kprof.inputs.mlir.locations import MlirFrame
from kprof.inputs.mlir.types import Type


@dataclass(eq=False)
class Operation:
    """One operation.

    Attributes:
        index: position in :attr:`Module.operations`.
        name: name such as ``tt.load``, ``ttg.convert_layout`` or ``scf.for``; old dialect names (``triton_gpu.``,
            ``amdgpu.``) are converted to ``ttg.`` and ``amdg.``.
        spelling: name as the text contains it, before the conversion of old dialect names.
        results: SSA names of the results, ``("%a",)`` or ``("%a#0", "%a#1")``.
        line: 1-based line in the text.
        parent: index of the operation whose region contains this one, or ``None``.
        depth: number of enclosing regions; 0 for the module.
        loop: index of the innermost enclosing ``scf.for`` or ``scf.while``, or ``None``.
        loop_depth: number of enclosing loops.
        module: module that contains the operation.
        text: text after the name, up to the region or the end of the line.
        tail: text after the closing brace of the regions: attributes and location of a loop.
        region: index of the parent's region that contains the operation; 1 for the region after ``else`` or ``do``.
        block: label of the block that contains the operation (``^bb2``); "" for the first block of a region.
    """

    index: int
    name: str
    spelling: str
    results: tuple[str, ...]
    line: int
    parent: int | None
    depth: int
    loop: int | None
    loop_depth: int
    module: "Module" = field(repr=False)
    text: str = field(repr=False)
    tail: str = field(default="", repr=False)
    region: int = 0
    block: str = ""

    @cached_property
    def _details(self) -> OperationDetails:
        return OperationDetails(self, self.module.readers)

    @property
    def operands(self) -> tuple[str, ...]:
        """SSA names of the operands, in the order of the text."""
        return self._details.operands

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Attributes in braces: numbers, bools, strings and lists; other values as text."""
        return self._details.attributes

    @property
    def modifiers(self) -> Mapping[str, str]:
        """``name = value`` pairs outside braces: ``cacheModifier = ca``, ``offset = ...``, ``stride = ...``."""
        return self._details.modifiers

    @property
    def operand_types(self) -> tuple[Type, ...]:
        """Types of the operands; empty if the text does not contain them."""
        return self._details.types[0]

    @property
    def result_types(self) -> tuple[Type, ...]:
        """Types of the results; empty if the text does not contain them."""
        return self._details.types[1]

    @property
    def location(self) -> tuple[MlirFrame, ...]:
        """Source frames: innermost first, then the calls at which it was inlined; empty if unknown."""
        return self._details.location

    @property
    def user_frame(self) -> MlirFrame | None:
        """The innermost frame outside Triton's own library, or ``None``."""
        return next((frame for frame in self.location if not frame.in_library), None)

    @property
    def is_loop(self) -> bool:
        """Whether the operation is ``scf.for`` or ``scf.while``."""
        return self.name in LOOPS

    @property
    def types(self) -> tuple[Type, ...]:
        """Operand types, then result types."""
        return self.operand_types + self.result_types

    def __str__(self) -> str:
        head = f"{', '.join(self.results)} = " if self.results else ""
        return f"{head}{self.name}{self.text}"


@dataclass(eq=False)
class Module:
    """A TTIR or TTGIR module.

    Attributes:
        operations: all operations in text order; the first is the ``module`` operation if the text contains it.
        attributes: attributes of the module: ``ttg.num-warps``, ``ttg.shared``, ``ttg.target``, ...; old
            ``triton_gpu.`` names are converted to ``ttg.``.
        aliases: text of each alias such as ``#blocked``, without location aliases.
        locations: text of each location alias such as ``#loc1``.
        path: path that the text was read from.
        notes: sentences about text that could not be read.
        block_arguments: names of each block's arguments, by the parent's index and the block's label.
    """

    operations: Sequence[Operation]
    attributes: Mapping[str, Any]
    aliases: Mapping[str, str]
    locations: Mapping[str, str] = field(repr=False)
    path: str | None = None
    notes: Sequence[str] = ()
    block_arguments: Mapping[tuple[int | None, str], tuple[str, ...]] = field(default_factory=dict, repr=False)

    @property
    def num_warps(self) -> int | None:
        """Number of warps (wavefronts) per workgroup, or ``None``."""
        return _integer(self.attributes.get("ttg.num-warps"))

    @property
    def threads_per_warp(self) -> int | None:
        """Number of lanes per wavefront, or ``None``."""
        return _integer(self.attributes.get("ttg.threads-per-warp"))

    @property
    def shared_bytes(self) -> int | None:
        """LDS per workgroup in bytes; ``None`` before the compiler has placed the buffers."""
        return _integer(self.attributes.get("ttg.shared"))

    @property
    def target(self) -> str | None:
        """Compilation target such as ``hip:gfx942``, or ``None``."""
        value = self.attributes.get("ttg.target")
        return value if isinstance(value, str) else None

    @property
    def arch(self) -> str | None:
        """Architecture such as ``gfx942``; ``None`` if the target is missing or not an AMD GPU."""
        backend, _, arch = (self.target or "").partition(":")
        return arch if backend == "hip" and arch else None

    @cached_property
    def readers(self) -> Readers:
        """Parsers of the types and locations of this module's operations."""
        return Readers(self.aliases, self.locations)

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        """Layout of each layout alias such as ``#blocked1``."""
        return read_layouts(self.aliases)

    @cached_property
    def functions(self) -> Sequence[Operation]:
        """Function operations, such as ``tt.func``."""
        return [op for op in self.operations if op.name in {"tt.func", "func.func", "llvm.func"}]

    def named(self, *names: str) -> Iterator[Operation]:
        """Yield the operations with one of these names; a trailing ``*`` matches any suffix: ``amdg.buffer_*``."""
        exact = {name for name in names if not name.endswith("*")}
        prefixes = tuple(name[:-1] for name in names if name.endswith("*"))
        for op in self.operations:
            if op.name in exact or (prefixes and op.name.startswith(prefixes)):
                yield op

    def counts(self) -> dict[str, int]:
        """Return the number of occurrences of each operation name."""
        from collections import Counter

        return dict(Counter(op.name for op in self.operations))

    def inside(self, op: Operation) -> Iterator[Operation]:
        """Yield the operations in the regions of ``op``, at any depth."""
        for other in self.operations[op.index + 1 :]:
            if other.depth <= op.depth:
                return
            yield other


LOOPS = frozenset({"scf.for", "scf.while"})


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
