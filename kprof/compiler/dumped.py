"""Read MLIR modules from a text: one TTIR or TTGIR, or the ``MLIR_ENABLE_DUMP=1`` output of one or more compiles."""

import re
from dataclasses import dataclass, field
from typing import Any

from kprof.compiler.passes import METRICS, PassHistory, PassRecord
from kprof.errors import KprofError
from kprof.inputs.mlir import Module, parse

_DUMP = re.compile(r"^// -----// IR Dump ", re.MULTILINE)
_OTHER = re.compile(r"^(?!\s|[#%!}{^]|module|builtin\.|tt\.|llvm\.|ttg\.|\"|//).*$", re.MULTILINE)
_NAME = re.compile(r"@\"?([\w.$]+)")


@dataclass(frozen=True)
class DumpedModule:
    """One kernel's module.

    Attributes:
        kernel: name of its first public function; ``None`` if there is none.
        target: ``hip:gfx942``; ``None`` if the module does not name it.
        num_warps: wavefronts per workgroup.
        shared: LDS per workgroup in bytes; ``None`` before the compiler has placed the buffers.
        layouts: text of each layout alias.
        measures: values of :data:`kprof.compiler.passes.METRICS` by name; ``None`` if one has no meaning at the
            module's stage.
        passes: for a dump, each pass that changed a measure: its order, name, stage and the values after it.
        pass_count: number of passes in the dump.
        last: the pass before which the module was last printed.
        notes: descriptions of what could not be read.
        module: the parsed module, which is not part of any document.
        unknown: facts that only the assembly contains.
    """

    kernel: str | None
    target: str | None
    num_warps: int | None
    shared: int | None
    layouts: dict[str, str]
    measures: dict[str, int | None]
    passes: list[dict[str, Any]]
    pass_count: int
    last: str | None
    notes: list[str]
    module: Module = field(repr=False, compare=False)
    unknown: tuple[str, ...] = ("registers", "spills", "occupancy", "instructions", "time")


def modules_of(text: str, path: str) -> list[DumpedModule]:
    """Return the module of each kernel in a text.

    Raises:
        KprofError: if the text is not MLIR.
    """
    first = _DUMP.search(text)
    if first is None:
        return [_described(parse(text, path), PassHistory(""), None)]
    found: list[DumpedModule] = []
    # A program may print other lines between the dumps; these are not MLIR and are removed.
    for compile_ in _compiles(_OTHER.sub("", text[first.start() :])):
        history = PassHistory(compile_)
        record = _last_with_layouts(history)
        if record is not None and record.module is not None:
            found.append(_described(record.module, history, record))
    return found


def _compiles(text: str) -> list[str]:
    """Split a dump into one part per compiled kernel: a compile begins where layouts are missing again."""
    starts = [match.start() for match in _DUMP.finditer(text)]
    parts = [text[at:end] for at, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    compiles: list[list[str]] = []
    later, kernel = False, None
    for part in parts:
        stage = _stage(part)
        name = _kernel_name(part)
        if not compiles or (later and stage == 0) or (stage == 0 and kernel and name and name != kernel):
            compiles.append([])
            later = False
        later = later or stage > 0
        kernel = name or kernel
        compiles[-1].append(part)
    return ["".join(parts) for parts in compiles]


def _stage(part: str) -> int:
    """Return the stage of a print: 0 before layouts exist, 1 with layouts, 2 after lowering to LLVM."""
    return 2 if "llvm.func" in part else 1 if "ttg." in part or "triton_gpu." in part else 0


def _kernel_name(part: str) -> str | None:
    match = re.search(r"(?:tt|llvm)\.func public @\"?([\w.$]+)", part)
    return match[1] if match else None


def _last_with_layouts(history: PassHistory) -> PassRecord | None:
    """Return the last readable print with layouts that is not lowered to LLVM, else the last readable one."""
    readable = [record for record in history.records if record.module is not None]
    with_layouts = [one for one in readable if one.module is not None and one.module.aliases and _stage(one.before) < 2]
    return next(reversed(with_layouts or readable), None)


def _described(module: Module, history: PassHistory, record: PassRecord | None) -> DumpedModule:
    shared = module.shared_bytes
    if shared is None:
        # The LDS size is an attribute that only later prints have.
        sizes = [one.module.shared_bytes for one in history.records if one.module is not None]
        shared = next((size for size in reversed(sizes) if size is not None), None)
    notes = list(module.notes)
    try:
        layouts = {name: str(text) for name, text in module.aliases.items() if "loc" not in name}
    except KprofError as error:
        layouts, notes = {}, [*notes, error.message]
    public = next((op for op in module.functions if " public " in f" {op.text} "), None) or next(
        iter(module.functions), None
    )
    name = _NAME.search(public.text) if public is not None else None
    return DumpedModule(
        kernel=name[1] if name else None,
        target=module.target,
        num_warps=module.num_warps,
        shared=shared,
        layouts=layouts,
        measures={name: measure(module) for name, measure in METRICS.items()},
        passes=history.table(),
        pass_count=len(history.records),
        last=record.name if record is not None else None,
        notes=notes,
        module=module,
    )
