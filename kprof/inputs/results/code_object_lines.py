"""Add source lines to the wavefronts of a debug agent's report from the code object that was running."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kprof.errors import InputError, near_hint
from kprof.inputs import code_object
from kprof.inputs.amdgcn.scan import is_library
from kprof.inputs.code_object.line_table import LineTable, read_line_table
from kprof.inputs.code_object.model import CodeObject, KernelObject
from kprof.inputs.mangled import demangled
from kprof.inputs.results.model import ToolResults

_SIZE = re.compile(r"[#&]size=(\d{1,18})(?:&|$)")
_WAVEFRONT = "wavefront"


def with_source_lines(results: ToolResults, path: Path) -> ToolResults:
    """Return the results with a source line for each wavefront that has none in the report.

    Args:
        results: content of a report of the ROCr Debug Agent.
        path: the code object with the report's kernel, as the agent's ``--save-code-objects`` writes it, or a bundle of
            several code objects.

    Raises:
        InputError: the results are from another tool, the file is not a code object, or the code object does not match
            the report: it has no kernel with the name, or the kernel has another size.
    """
    if results.what != _WAVEFRONT:
        raise InputError(
            f"--code-object: {results.tool} records no addresses of instructions", path=results.path,
            hint="a code object is used with a report of the ROCr Debug Agent",
        )  # fmt: skip
    objects = code_object.read_file(path).objects
    tables: dict[str, tuple[KernelObject, LineTable]] = {}
    rows: list[dict[str, Any]] = []
    missing: list[str] = []
    for row in results.rows:
        name = row["kernel"]
        if row["source"] is not None or name is None or row["offset"] is None:
            rows.append(dict(row))
            continue
        if name not in tables:
            tables[name] = _table_of(name, row["code_object"], objects, str(path))
        source, inlined = _source_lines(*tables[name], row["offset"])
        rows.append({**row, "source": source, "inlined": inlined})
        if source is None:
            missing.append(f"{row['label']}: {path} has no source line of {name} +{row['offset']}")
    return replace(
        results, rows=tuple(rows), facts=_facts(results.facts, rows, path), issues=(*results.issues, *missing)
    )


def _table_of(
    name: str, where: str | None, objects: Sequence[CodeObject], shown: str
) -> tuple[KernelObject, LineTable]:
    """Return a kernel by its plain or demangled name, with the line table of its code object."""
    kernels = [(kernel, each) for each in objects for kernel in each.kernels]
    match = next(((k, each) for k, each in kernels if name in {k.name, demangled(k.name)}), None)
    if match is None:
        known = [kernel.name for kernel, _ in kernels]
        raise InputError(f"no kernel {name!r} of the report", path=shown, hint=near_hint(name, known, "its kernels:"))
    kernel, code = match
    size = _SIZE.search(where or "")
    if size is not None and int(size[1]) != len(code.data):
        raise InputError(
            f"this is not the code object of the report: {len(code.data):,} bytes, {where} has {int(size[1]):,}",
            path=shown,
        )
    try:
        return kernel, read_line_table(code.data)
    except ValueError as error:
        raise InputError(f"the debug information cannot be read: {str(error)[:200]}", path=shown) from error


def _source_lines(kernel: KernelObject, table: LineTable, offset: int) -> tuple[str | None, str | None]:
    """Return the user's source line of an instruction, and the line of inlined library code if there is one."""
    if kernel.address is None or (kernel.code_bytes is not None and offset >= kernel.code_bytes):
        return None, None
    frames = []
    for place in table.at(kernel.address + offset):
        folder, name = table.files[place.file]
        file = name if name.startswith("/") or not folder else f"{folder}/{name}"
        if place.line:
            frames.append((f"{file}:{place.line}", is_library(file)))
    user = next((text for text, in_library in frames if not in_library), None)
    if user is None:
        return (frames[0][0] if frames else None), None
    return user, frames[0][0] if frames[0][1] else None


def _facts(facts: Mapping[str, str], rows: Sequence[Mapping[str, Any]], path: Path) -> dict[str, str]:
    """Return the report's facts, adding the source line of the wavefront that they describe."""
    described = next((row for row in rows if facts.get("stopped at", "").endswith(f"({row['pc']})")), None)
    if described is None or described.get("inlined", "absent") == "absent" or described["source"] is None:
        return dict(facts)
    inlined = f", which inlines {described['inlined']}" if described["inlined"] else ""
    return {**facts, "line": f"{described['source']}{inlined} (line table of {path})"}
