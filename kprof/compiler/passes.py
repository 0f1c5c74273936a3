"""What each compiler pass did to the kernel.

Which one changed the LDS size, brought this layout conversion in, lost a vector width?
MLIR prints the whole module before each pass. What a pass did is therefore the difference between its own print and
the next one's; of nested passes (a canonicalizer inside the inliner) the innermost gets the blame. After the lowering
to LLVM there are no layouts and buffers to measure any more.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from kprof.errors import KprofError
from kprof.inputs.mlir import MemDesc, Module, Operation, TensorType, parse
from kprof.inputs.mlir.measures import (
    copies_to_lds,
    is_in_lds,
    lds_bytes,
    makes_buffer,
    reads_lds,
    vector_bytes,
    writes_lds,
)

STAGE_MARK = "// kprof stage "
"""Begins the line that the harness writes between the stages of a dump."""

_HEADER = re.compile(
    r"^// -----// IR Dump (?P<when>Before|After) (?P<what>.*?)(?P<failed> Failed)?"
    r"(?: \('(?P<scope>[\w.]+)' operation(?:: (?P<symbol>@[^\n]*?))?\))? //----- //$"
    rf"|^{re.escape(STAGE_MARK)}(?P<stage>\w+)$",
    re.MULTILINE,
)
_NAME = re.compile(
    r"(?P<class>\w+(?:::\w+)*)(?: \((?P<old>[\w-]+)\)|: (?P<new>[\w-]+)(?P<options>\{.*\})?)?", re.DOTALL
)

Number = int | None


Measure = Callable[[Module], Number]
"""A number that can be read off a module; ``None`` where it has no meaning there."""


@dataclass(eq=False)
class PassRecord:
    """One run of one pass.

    Attributes:
        order: position in the history, from 0.
        name: the pass as on MLIR's command line: ``tritonamdgpu-pipeline``.
        options: its options in braces, where the compiler prints them.
        scope: operation that it ran on: ``builtin.module``, ``tt.func``.
        symbol: the function's name, where it ran on one.
        stage: stage of the compiler: ``ttir``, ``ttgir``, ``llir``; ``None`` when not known.
        failed: whether the compiler stopped here.
        before: the module before.
        after: the module after; ``None`` for the last pass.
    """

    order: int
    name: str
    options: str
    scope: str
    symbol: str | None
    stage: str | None
    failed: bool
    before: str = field(repr=False)
    after: str | None = field(default=None, repr=False)

    @property
    def changed(self) -> bool | None:
        """Whether the text of the module changed; ``None`` when what came after is not known."""
        return None if self.after is None else self.after != self.before

    @cached_property
    def module(self) -> Module | None:
        """The module before the pass, read; ``None`` when the print is not MLIR."""
        try:
            return parse(self.before)
        except KprofError:
            return None


@dataclass(eq=False)
class PassHistory:
    """Every pass of one compile, from what ``MLIR_ENABLE_DUMP=1`` prints.

    Attributes:
        text: the dump.
    """

    text: str = field(repr=False)

    @cached_property
    def records(self) -> Sequence[PassRecord]:
        """Passes in the order in which they ran."""
        found: list[PassRecord] = []
        stage = None
        for match, body in self._sections():
            if match["stage"]:
                stage = match["stage"]
                continue
            if match["when"] == "After":
                _finish(found, match, body)
                continue
            name = _NAME.match(match["what"])
            found.append(
                PassRecord(
                    order=len(found),
                    name=((name["old"] or name["new"] or name["class"]) if name else match["what"]),
                    options=(name["options"] or "") if name else "",
                    scope=match["scope"] or "",
                    symbol=match["symbol"],
                    stage=stage,
                    failed=False,
                    before=body,
                )
            )
        for record, following in pairwise(found):
            record.after = record.after if record.after is not None else following.before
        return found

    def _sections(self) -> Iterator[tuple[re.Match[str], str]]:
        matches = list(_HEADER.finditer(self.text))
        ends = [match.start() for match in matches[1:]] + [len(self.text)]
        for match, end in zip(matches, ends, strict=False):
            yield match, self.text[match.end() : end].strip("\n")

    def counts(self, operation: str, line: int | None = None) -> list[tuple[PassRecord, int, int]]:
        """Passes that changed the number of operations of a name, of a line of the user's source if given.

        Args:
            operation: name, or the beginning of one with a ``*`` behind it.
            line: 1-based line of the user's file.

        Returns:
            The pass with the numbers before and after it, in order. Ends where the module is lowered to LLVM.
        """
        found: list[tuple[PassRecord, int, int]] = []
        known: Number = None
        for record, following in pairwise(self.records):
            if known is None and record.module is not None:
                known = _named(record.module, operation, line)
            if record.changed is False or following.module is None:
                continue
            now = _named(following.module, operation, line)
            if now is not None and now != known:
                found.append((record, known or 0, now))
            known = now
        return found

    def table(self) -> list[dict[str, Any]]:
        """A row for every pass that changed one of :data:`METRICS`: its order, name, stage and the values after it."""
        rows: list[dict[str, Any]] = []
        first = self.records[0].module if self.records else None
        values = _measured(first) if first else {}
        for record, following in pairwise(self.records):
            module = following.module
            if record.changed is False or module is None:
                continue
            now = _measured(module)
            if now != values:
                rows.append({"order": record.order, "pass": record.name, "stage": record.stage, **now})
                values = now
        return rows


def _finish(found: list[PassRecord], match: re.Match[str], body: str) -> None:
    """A print after a pass: only failing ones have it."""
    if found:
        found[-1].after = body
        found[-1].failed = bool(match["failed"])


def _measured(module: Module) -> dict[str, Number]:
    return {name: measure(module) for name, measure in METRICS.items()}


def _named(module: Module, operation: str, line: int | None) -> Number:
    """Operations of a name, of a line of the user's source if given; ``None`` once the module is lowered to LLVM."""
    if _lowered(module):
        return None
    return sum(1 for op in module.named(operation) if line is None or _line(op) == line)


def _lowered(module: Module) -> bool:
    return any(op.name == "llvm.func" for op in module.functions)


def _count(*names: str) -> Measure:
    def measure(module: Module) -> Number:
        return None if _lowered(module) else sum(1 for _ in module.named(*names))

    return measure


def _count_if(condition: Callable[[Operation], bool]) -> Measure:
    def measure(module: Module) -> Number:
        return None if _lowered(module) else sum(1 for op in module.operations if condition(op))

    return measure


def _allocated(module: Module) -> Number:
    if _lowered(module):
        return None
    return sum(_size(buffer) or 0 for buffer in _declared(module))


def _buffers(module: Module) -> Number:
    """Copies that a multi-buffered allocation has: its first dimension where there are three."""
    if _lowered(module):
        return None
    return max((buffer.shape[0] for buffer in _declared(module) if len(buffer.shape) > 2), default=0)


def _declared(module: Module) -> Iterator[MemDesc | TensorType]:
    """Types of the buffers of LDS that a module makes."""
    for op in module.operations:
        if makes_buffer(op):
            kind = next((kind for kind in op.result_types if is_in_lds(kind)), None)
            if isinstance(kind, MemDesc | TensorType):
                yield kind


def _size(buffer: MemDesc | TensorType) -> int | None:
    return lds_bytes(buffer) if isinstance(buffer, MemDesc) else buffer.bytes


def _widest(module: Module) -> Number:
    return None if _lowered(module) else _vector(module, max)


def _narrowest(module: Module) -> Number:
    return None if _lowered(module) else _vector(module, min)


def _vector(module: Module, pick: Callable[..., int]) -> Number:
    widths = []
    for op in module.named("tt.load", "tt.store", "amdg.buffer_load", "amdg.buffer_store"):
        tensor = next((t for t in op.types if isinstance(t, TensorType)), None)
        width = vector_bytes(tensor) if tensor is not None and tensor.layout is not None else None
        if width is not None:
            widths.append(width)
    return pick(widths) if widths else None


def _line(op: Operation) -> int | None:
    frame = op.user_frame
    return frame.line if frame else None


METRICS: Mapping[str, Measure] = {
    # Bytes of the workgroup's LDS once the compiler has placed it; of the buffers declared so far.
    "shared": lambda module: module.shared_bytes,
    "allocated": _allocated,
    # Buffers of the deepest software pipeline.
    "buffers": _buffers,
    "convert_layout": _count("ttg.convert_layout"),
    # Buffers of LDS, and operations that read or write them, under the names of today's dialect.
    "local_alloc": _count_if(makes_buffer),
    "local_load": _count_if(reads_lds),
    "local_store": _count_if(writes_lds),
    # From global memory straight into LDS.
    "async_copy": _count_if(copies_to_lds),
    "loads": _count("tt.load"),
    "buffer_ops": _count("amdg.buffer_*"),
    "dots": _count("tt.dot", "tt.dot_scaled"),
    "loops": _count("scf.for", "scf.while"),
    # Bytes a thread that layouts allow a global access.
    "vector_max": _widest,
    "vector_min": _narrowest,
}
"""What is followed through the passes."""
