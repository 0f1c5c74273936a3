"""Reduce a kernel's details step by step, for pages that would become too large."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kprof.details import CodeBlock, CodeLine, Details

_CUTS = (4000, 1500, 500)


def smaller(details: Details) -> Iterator[Details]:
    """Yield copies of the details, each with less content than the one before.

    The first copy is complete. Later copies omit, one after the other, layouts, TTGIR, instructions outside loops, and
    instructions of fast blocks. The last copy contains neither source nor instructions.
    """
    yield details
    if details.layouts:
        details = _noted(replace(details, layouts=()), "layouts are left out: kprof draw layout draws them")
        yield details
    if details.ttgir:
        details = _noted(replace(details, ttgir=()), "the TTGIR is left out: --max-size makes room for it")
        yield details
    total = sum(len(block.code) for block in details.blocks)
    in_loops = [block if block.loop else _emptied(block) for block in details.blocks]
    if any(block.loop for block in details.blocks) and any(not block.loop for block in details.blocks):
        yield _noted(replace(details, blocks=in_loops), _shown_part_text(total, in_loops, "of loops"))
    for most in _CUTS:
        if total > most:
            blocks = _hottest(details.blocks if not any(b.loop for b in details.blocks) else in_loops, most)
            yield _noted(replace(details, blocks=blocks), _shown_part_text(total, blocks, "of the costliest blocks"))
    if details.blocks:
        hint = "instructions are left out to keep the page small: --kernel shows one kernel alone"
        yield _noted(replace(details, blocks=(), control_flow=None), hint)
    yield Details(notes=["source and instructions are left out to keep the page small: --kernel shows one alone"])


def size(details: Details) -> int:
    """Return an estimate of the bytes that the details take on a page; it is slightly more than the real size."""
    code = sum(len(line.text) + 8 for block in details.blocks for line in block.code)
    return code + sum(len(picture.svg) for picture in details.layouts) + sum(len(one.text) for one in details.ttgir)


def _noted(details: Details, note: str) -> Details:
    return replace(details, notes=[*details.notes, note])


def _shown_part_text(total: int, blocks: Sequence[CodeBlock], which: str) -> str:
    kept = sum(len(block.code) for block in blocks)
    return f"only {kept:,} of {total:,} instructions are shown, those {which}, to keep the page small"


def _emptied(block: CodeBlock) -> CodeBlock:
    return replace(block, code=())


def _hottest(blocks: Sequence[CodeBlock], most: int) -> list[CodeBlock]:
    """Empty all blocks except those that take most time, and cut long ones; the program order is kept."""
    kept: dict[int, CodeBlock] = {}
    room = most
    by_time = sorted(range(len(blocks)), key=lambda at: (-_time(blocks[at].code), -blocks[at].depth, at))
    for at in by_time:
        kept[at] = replace(blocks[at], code=tuple(blocks[at].code)[:room])
        room -= len(kept[at].code)
    return [kept[at] for at in range(len(blocks))]


def _time(code: Sequence[CodeLine]) -> float:
    return sum(line.share for line in code)
