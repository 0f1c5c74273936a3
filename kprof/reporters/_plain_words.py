"""Rephrase messages without instruction names, for readers who do not read assembly; ``-v`` shows the original.

Loops are named by their lines, and their content is described by kinds of instructions.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from kprof.document import KernelReport, LoopFacts, LoopPrediction

if TYPE_CHECKING:
    from rich.text import Text

_ACCESS = ("global_", "buffer_", "flat_", "image_")
_KINDS = (
    ("load", ("_load",)),
    ("store", ("_store",)),
    ("atomic", ("_atomic",)),
)
_LDS_KINDS = (("LDS read", ("ds_read", "ds_load")), ("LDS write", ("ds_write", "ds_store")))
_SHAPE = r"(?:ld_)?(?:scale_)?[a-z]+\d+_(\d+x\d+x\d+)_?(\w*)"
_WORDS = (
    (r"\bs_wait(?:cnt)?_?\w* (?:vmcnt\(0\)(?: lgkmcnt\(0\))?|0x0)", "a wait for all loads"),
    (rf"\bv_s?mfmac?_{_SHAPE}", r"MFMA \1 \2"),
    (rf"\bv_s?wmmac?_{_SHAPE}", r"WMMA \1 \2"),
    (r"\b(?:global|buffer|flat)_load_\w+", "a load"),
    (r"\b(?:global|buffer|flat)_store_\w+", "a store"),
    (r"(\d) v_exp_f(?:16|32)\b", r"\1 exponentials"),
    (r"\bv_cvt_pk_(\w+?)_(\w+) converts", r"a packed conversion of \2 to \1 converts"),
    (r"\bv_cvt_(\w+?)_(\w+)", r"conversions of \2 to \1"),
)
_MESSAGES = [(re.compile(pattern), words) for pattern, words in _WORDS]
_GLUE = "\ue000"
"""Placeholder for a blank at which a line must not break. It occurs in no text, and no terminal breaks at it."""

_UNITS = "%|B|[KMG]iB|[nµm]?s|VGPRs?|AGPRs?|SGPRs?|waves?"
_TOGETHER = re.compile(rf"(?<=\d) (?=(?:{_UNITS})(?!\w))|(?<=[→≤]) (?=\S)|(?<=\S) (?=[→≤])")


_PARTS = re.compile(r"(?:(?<=   )|(?<= · ))\S+(?: (?!·)\S+){1,4}(?=   | · |$)")
"""Matches short parts of a line between wide gaps or dots: ``900 B scratch a lane``, ``24 LDS writes``."""

_LIMITS = {"HBM": "HBM bandwidth", "launch": "the fixed cost of a call", "host": "the host, which reads a value"}


def plain(message: str) -> str:
    """Replace instruction names in a message by words: ``64 v_mfma_f32_32x32x8_f16`` by ``64 MFMA 32x32x8 f16``."""
    for pattern, words in _MESSAGES:
        message = pattern.sub(words, message)
    return message


def said(message: str, kernel: "KernelReport") -> str:
    """Return a finding's message in plain words: loops by their lines, without instruction names."""
    return plain(without_labels(message, kernel))


def together(text: "Text") -> "Text":
    """Prevent line breaks between numbers and units, and inside short items of a list; :func:`apart` undoes this."""
    whole = _PARTS.sub(lambda found: found[0].replace(" ", _GLUE), text.plain)
    text.plain = _TOGETHER.sub(_GLUE, whole)
    return text


def apart(printed: str) -> str:
    """Replace the placeholders that :func:`together` inserted by blanks, in printed text."""
    return printed.replace(_GLUE, " ")


def limit_words(bound: str) -> str:
    """Return a readable name of an operator's limit.

    >>> [limit_words(bound) for bound in ("matrix_bf16", "HBM", "launch", "memory latency")]
    ['the bf16 matrix peak', 'HBM bandwidth', 'the fixed cost of a call', 'memory latency']
    """
    unit, _, dtype = bound.partition("_")
    return _LIMITS.get(bound, f"the {dtype} {unit} peak" if dtype else bound)


def lines_of(loop: LoopFacts | LoopPrediction, kernel: KernelReport) -> str:
    """Return the source lines of a loop, ``lines 44-77``, or "" if not known.

    The file's name is included if it is not the kernel's own file.
    """
    for file, (first, last) in list(loop.lines.items())[:1]:
        lines = f"line {first}" if first == last else f"lines {first}-{last}"
        name = file.rpartition("/")[2]
        own = kernel.source is UNSET or kernel.source.file.rpartition("/")[2] == name
        return lines if own else f"{name} {lines}"
    return ""


def called(header: str, kernel: KernelReport) -> str:
    """Return a readable name of a loop: ``the loop at lines 44-77``, ``the loop`` or ``loop 2 of 3``."""
    headers = [loop.header for loop in kernel.loops]
    if header not in headers:
        return f"loop {header}"
    number = headers.index(header)
    if lines := lines_of(kernel.loops[number], kernel):
        return f"the loop at {lines}"
    return "the loop" if len(headers) == 1 else f"loop {number + 1} of {len(headers)}"


def without_labels(text: str, kernel: KernelReport) -> str:
    """Return a sentence with loop labels replaced by the loops' lines or numbers."""
    headers = [loop.header for loop in kernel.loops]
    if "loop " not in text or not headers:
        return text
    names = "|".join(re.escape(header) for header in sorted(headers, key=len, reverse=True))
    return re.sub(rf"\b(?:the )?loop ({names})(?!\w)", lambda found: called(found[1], kernel), text)


def summary(loop: LoopFacts, kernel: KernelReport) -> str:
    """Summarise a loop without instruction names: ``lines 44-77   256 MFMA 16x16x16 f16 · 16 loads``."""
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
