"""Loops as people call them: by their lines, with what they do in kinds of instructions."""

import re
from collections.abc import Mapping, Sequence

from msgspec import UNSET

from kprof.document import KernelReport, LoopFacts, LoopPrediction

_ACCESS = ("global_", "buffer_", "flat_", "image_")
_KINDS = (
    ("load", ("_load",)),
    ("store", ("_store",)),
    ("atomic", ("_atomic",)),
)
_LDS_KINDS = (("LDS read", ("ds_read", "ds_load")), ("LDS write", ("ds_write", "ds_store")))


def lines_of(loop: LoopFacts | LoopPrediction, kernel: KernelReport) -> str:
    """``lines 44-77``, with the file in front where it is not the kernel's own; empty where no line is known."""
    for file, (first, last) in list(loop.lines.items())[:1]:
        lines = f"line {first}" if first == last else f"lines {first}-{last}"
        name = file.rpartition("/")[2]
        own = kernel.source is UNSET or kernel.source.file.rpartition("/")[2] == name
        return lines if own else f"{name} {lines}"
    return ""


def called(header: str, kernel: KernelReport) -> str:
    """Return ``the loop at lines 44-77``; without lines ``the loop`` or ``loop 2 of 3``, in the code's order."""
    headers = [loop.header for loop in kernel.loops]
    if header not in headers:
        return f"loop {header}"
    number = headers.index(header)
    if lines := lines_of(kernel.loops[number], kernel):
        return f"the loop at {lines}"
    return "the loop" if len(headers) == 1 else f"loop {number + 1} of {len(headers)}"


def without_labels(text: str, kernel: KernelReport) -> str:
    """Return a sentence in which loops are called by their lines or numbers."""
    headers = [loop.header for loop in kernel.loops]
    if "loop " not in text or not headers:
        return text
    names = "|".join(re.escape(header) for header in sorted(headers, key=len, reverse=True))
    return re.sub(rf"\b(?:the )?loop ({names})(?!\w)", lambda found: called(found[1], kernel), text)


def summary(loop: LoopFacts, kernel: KernelReport) -> str:
    """``lines 44-77   256 MFMA 16x16x16 f16 · 16 loads · 84 waits for all loads``; names of instructions: -v."""
    unit = "MFMA" if any("mfma" in name for name in loop.instructions) else "WMMA"
    counts = [f"{n:,} {unit} {shape}" for shape, n in loop.matrix.items()]
    counts += _counted(loop.instructions, _ACCESS, _KINDS)
    counts += _counted(loop.instructions, ("ds_",), _LDS_KINDS)
    if full := sum(count for wait, count in loop.waits.items() if wait.endswith("cnt(0)")):
        counts.append(f"{_plural(full, 'wait')} for all loads")
    if loop.spill_accesses:
        counts.append(f"{_plural(loop.spill_accesses, 'scratch access')} (spills)")
    what = " · ".join(counts) or _plural(sum(loop.instructions.values()), "instruction")
    return "   ".join(filter(None, [lines_of(loop, kernel), what]))


def _counted(
    instructions: Mapping[str, int], prefixes: tuple[str, ...], kinds: Sequence[tuple[str, tuple[str, ...]]]
) -> list[str]:
    found = []
    for kind, marks in kinds:
        count = sum(
            n for name, n in instructions.items() if name.startswith(prefixes) and any(m in name for m in marks)
        )
        if count:
            found.append(_plural(count, kind))
    return found


def _plural(count: int, noun: str) -> str:
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"
