"""The effect of each compiler pass on the kernel.

It answers questions such as: which pass changed the LDS size, inserted this layout conversion, or reduced a vector
width? MLIR prints the whole module before each pass. The effect of a pass is therefore the difference between its print
and the next one. Changes inside nested passes (a canonicalizer inside the inliner) are attributed to the innermost
pass. After the lowering to LLVM, there are no layouts and buffers to measure.
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
"""Prefix of the line that kprof writes between the stages of a dump."""

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
"""A function that computes a number from a module, or ``None`` if the number has no meaning at the module's stage."""


@dataclass(eq=False)
class PassRecord:
    """One run of one pass.

    Attributes:
        order: position in the history, from 0.
        name: the pass as on MLIR's command line: ``tritonamdgpu-pipeline``.
        options: its options in braces, if the compiler prints them.
        scope: operation that it ran on: ``builtin.module``, ``tt.func``.
        symbol: name of the function that it ran on, if any.
        stage: stage of the compiler: ``ttir``, ``ttgir``, ``llir``; ``None`` if unknown.
        failed: whether the compiler stopped in this pass.
        before: text of the module before the pass.
        after: text of the module after the pass; ``None`` for the last pass.
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
        """Whether the text of the module changed; ``None`` if the text after the pass is unknown."""
        return None if self.after is None else self.after != self.before

    @cached_property
    def module(self) -> Module | None:
        """The parsed module before the pass; ``None`` if the print is not MLIR."""
        try:
            return parse(self.before)
        except KprofError:
            return None


@dataclass(eq=False)
class PassHistory:
    """Every pass of one compile, parsed from the ``MLIR_ENABLE_DUMP=1`` output.

    Attributes:
        text: the dump.
    """

    text: str = field(repr=False)

    @cached_property
    def records(self) -> Sequence[PassRecord]:
        """Passes in execution order."""
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
        """Return the passes that changed the number of operations with a name, optionally of one source line.

        Args:
            operation: name, or a prefix followed by ``*``.
            line: 1-based line of the user's file.

        Returns:
            Each such pass with the numbers before and after it, in order, up to the lowering to LLVM.
        """
        found: list[tuple[PassRecord, int, int]] = []
        known: Number = None
        for record, following in pairwise(self.records):
            if known is None and record.module is not None:
                known = _count_named(record.module, operation, line)
            if record.changed is False or following.module is None:
                continue
            now = _count_named(following.module, operation, line)
            if now is not None and now != known:
                found.append((record, known or 0, now))
            known = now
        return found

    def table(self) -> list[dict[str, Any]]:
        """Return a row for every pass that changed one of :data:`METRICS`: order, name, stage and values after it."""
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
    """Complete the latest record with a print after the pass, which MLIR makes only for failing passes."""
    if found:
        found[-1].after = body
        found[-1].failed = bool(match["failed"])


def _measured(module: Module) -> dict[str, Number]:
    return {name: measure(module) for name, measure in METRICS.items()}


def _count_named(module: Module, operation: str, line: int | None) -> Number:
    """Count operations with a name, optionally of one source line; return ``None`` after the lowering to LLVM."""
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
    """Return the largest number of copies of a multi-buffered LDS buffer: its first of three or more dimensions."""
    if _lowered(module):
        return None
    return max((buffer.shape[0] for buffer in _declared(module) if len(buffer.shape) > 2), default=0)


def _declared(module: Module) -> Iterator[MemDesc | TensorType]:
    """Yield the types of the LDS buffers that a module creates."""
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
    # Bytes of LDS per workgroup after the compiler has placed the buffers, and bytes of all buffers declared so far.
    "shared": lambda module: module.shared_bytes,
    "allocated": _allocated,
    # Number of buffers of the deepest software pipeline.
    "buffers": _buffers,
    "convert_layout": _count("ttg.convert_layout"),
    # LDS buffers, and operations that read or write them, under the names of the present dialect.
    "local_alloc": _count_if(makes_buffer),
    "local_load": _count_if(reads_lds),
    "local_store": _count_if(writes_lds),
    # Copies from global memory directly into LDS.
    "async_copy": _count_if(copies_to_lds),
    "loads": _count("tt.load"),
    "buffer_ops": _count("amdg.buffer_*"),
    "dots": _count("tt.dot", "tt.dot_scaled"),
    "loops": _count("scf.for", "scf.while"),
    # Bytes per thread that layouts allow for a global access.
    "vector_max": _widest,
    "vector_min": _narrowest,
}
"""Values that are tracked through the passes."""
