"""What a TTIR or TTGIR module holds: operations with types, loops and source positions.

Reading a module finds its operations and their nesting; an operation's types, attributes and position are worked
out when first asked for.
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
        name: ``tt.load``, ``ttg.convert_layout``, ``scf.for``; old spellings (``triton_gpu.``, ``amdgpu.``) are
            given as ``ttg.`` and ``amdg.``.
        spelling: the name as written.
        results: SSA names of the results: ``("%a",)`` or ``("%a#0", "%a#1")``.
        line: 1-based line in the text.
        parent: index of the operation whose region holds it.
        depth: number of regions around it; the module has 0.
        loop: index of the innermost ``scf.for`` or ``scf.while`` around it.
        loop_depth: number of loops around it.
        module: the module that it belongs to.
        text: everything after the name up to the region or the end of the line.
        tail: what follows the regions' closing brace: attributes and position of a loop.
        region: which of the parent's regions holds it: 1 for what follows ``else`` or ``do``.
        block: label of the block that holds it (``^bb2``); empty in a region's first one.
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
        """Attributes in braces: numbers, bools, strings, lists; others as text."""
        return self._details.attributes

    @property
    def modifiers(self) -> Mapping[str, str]:
        """``name = value`` pairs outside braces: ``cacheModifier = ca``, ``offset = ...``, ``stride = ...``."""
        return self._details.modifiers

    @property
    def operand_types(self) -> tuple[Type, ...]:
        """Types of operands as far as the text gives them."""
        return self._details.types[0]

    @property
    def result_types(self) -> tuple[Type, ...]:
        """Types of results as far as the text gives them."""
        return self._details.types[1]

    @property
    def location(self) -> tuple[MlirFrame, ...]:
        """Innermost frame first, then the calls that it was inlined at; empty when unknown."""
        return self._details.location

    @property
    def user_frame(self) -> MlirFrame | None:
        """The innermost frame outside Triton's own library."""
        return next((frame for frame in self.location if not frame.in_library), None)

    @property
    def is_loop(self) -> bool:
        """``scf.for`` or ``scf.while``."""
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
        operations: every operation in the order of the text, the module itself first when it is written.
        attributes: of the module: ``ttg.num-warps``, ``ttg.shared``, ``ttg.target``, ...; old ``triton_gpu.`` names
            are given as ``ttg.``.
        aliases: ``#blocked`` and the like (without position aliases) to their text.
        locations: ``#loc1`` and the like to their text.
        path: where the text came from.
        notes: what could not be read, in words.
    """

    operations: Sequence[Operation]
    attributes: Mapping[str, Any]
    aliases: Mapping[str, str]
    locations: Mapping[str, str] = field(repr=False)
    path: str | None = None
    notes: Sequence[str] = ()

    @property
    def num_warps(self) -> int | None:
        """Warps (wavefronts) of a workgroup."""
        return _integer(self.attributes.get("ttg.num-warps"))

    @property
    def threads_per_warp(self) -> int | None:
        """Lanes of a wavefront."""
        return _integer(self.attributes.get("ttg.threads-per-warp"))

    @property
    def shared_bytes(self) -> int | None:
        """LDS of a workgroup in bytes; ``None`` before the compiler has placed the buffers."""
        return _integer(self.attributes.get("ttg.shared"))

    @property
    def target(self) -> str | None:
        """``hip:gfx942``."""
        value = self.attributes.get("ttg.target")
        return value if isinstance(value, str) else None

    @property
    def arch(self) -> str | None:
        """``gfx942``; ``None`` when the module is for no AMD GPU or does not say."""
        backend, _, arch = (self.target or "").partition(":")
        return arch if backend == "hip" and arch else None

    @cached_property
    def readers(self) -> Readers:
        """What reads types and positions of this module's operations."""
        return Readers(self.aliases, self.locations)

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        """Layout aliases (``#blocked1``) to layouts."""
        return read_layouts(self.aliases)

    @cached_property
    def functions(self) -> Sequence[Operation]:
        """``tt.func`` operations."""
        return [op for op in self.operations if op.name in {"tt.func", "func.func", "llvm.func"}]

    def named(self, *names: str) -> Iterator[Operation]:
        """Operations with one of these names; a trailing ``*`` stands for anything: ``amdg.buffer_*``."""
        exact = {name for name in names if not name.endswith("*")}
        prefixes = tuple(name[:-1] for name in names if name.endswith("*"))
        for op in self.operations:
            if op.name in exact or (prefixes and op.name.startswith(prefixes)):
                yield op

    def counts(self) -> dict[str, int]:
        """Operation name to how often it occurs."""
        from collections import Counter

        return dict(Counter(op.name for op in self.operations))

    def inside(self, op: Operation) -> Iterator[Operation]:
        """Operations in the regions of ``op``, at any depth."""
        for other in self.operations[op.index + 1 :]:
            if other.depth <= op.depth:
                return
            yield other


LOOPS = frozenset({"scf.for", "scf.while"})


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
