"""Source lines and instructions as HTML.

They are created in Python instead of a template, because there are thousands.
"""

from collections.abc import Collection, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from kprof.details import CodeBlock, CodeLine, Details, IrLine, SourceFile, SourceLine
from kprof.reporters.html.charts import cause_name, segments
from kprof.reporters.html.parts import clean

if TYPE_CHECKING:
    from markupsafe import Markup

_LONGEST_LINE = 240
_LONGEST_INSTRUCTION = 160
_KINDS = {
    "matrix": "m",
    "vmem": "v",
    "smem": "v",
    "lds": "l",
    "scratch": "s",
    "wait": "w",
    "barrier": "b",
    "branch": "j",
}
# Minimum share of the time from which an instruction's share is written as a number.
_WORTH_A_NUMBER = 0.001


def source_table(file: SourceFile, number: int, key: str, code_of: set[tuple[int, int]], top: float) -> "Markup":
    """Return the rows of a source file: line, share of the time by cause, instructions, spills, conflicts, text.

    Args:
        file: the file.
        number: its position among the kernel's files.
        key: the kernel's name in the page's anchors.
        code_of: places, as (file, line), that have instructions on the page.
        top: the largest share of a line, whose bar has full length.
    """
    from markupsafe import Markup

    rows: list[Markup] = []
    before: int | None = None
    for line in file.lines:
        if before is not None and line.number != before + 1 and file.hidden is None:
            rows.append(Markup('<tr class="gap"><td colspan="6">⋮</td></tr>'))
        before = line.number
        rows.append(_row(line, f"{number}-{line.number}", key, top, linked=(number, line.number) in code_of))
    return Markup("\n").join(rows)


def _row(line: SourceLine, place: str, key: str, top: float, *, linked: bool) -> "Markup":
    from markupsafe import Markup

    at = Markup('<a href="#{}-c{}">{}</a>').format(key, place, line.number) if linked else line.number
    text = clean(line.text, _LONGEST_LINE) if line.text is not None else ""
    if not line.instructions:
        return Markup('<tr><th>{}</th><td></td><td></td><td></td><td></td><td class="src">{}</td></tr>').format(
            at, text
        )
    return Markup(
        '<tr id="{0}-{1}" data-l="{1}" class="h{2}"><th>{3}</th>{4}<td>{5:,}</td><td>{6}</td><td>{7}</td>'
        '<td class="src">{8}</td></tr>'
    ).format(
        key,
        place,
        heat(line.share or 0.0),
        at,
        _time(line, top),
        line.instructions,
        line.spills or "",
        "?" if line.conflicts is None else line.conflicts or "",
        text,
    )


def _time(line: SourceLine, top: float) -> "Markup":
    """Return the cell with the share of the time: a bar by cause, and the number."""
    from markupsafe import Markup

    if line.share is None:
        return Markup("<td></td>")
    words = ", ".join(
        f"{cause_name(cause)} {100 * share:.1f} %" for cause, share in line.causes.items() if share >= 0.0005
    )
    bar = Markup("").join(
        Markup('<i class="{}" style="width:{}%"></i>').format(part.css, part.percent)
        for part in segments(line.causes, top, 0.002 * top)
    )
    number = f"{100 * line.share:.1f} %" if line.share >= 0.0005 else ""
    return Markup('<td class="t" title="{}"><span class="bar">{}</span><span>{}</span></td>').format(words, bar, number)


def heat(share: float) -> int:
    """Return the colour step of a share: 0 for a negligible one, 4 for a fifth of the time and more."""
    return sum(share >= limit for limit in (0.005, 0.02, 0.08, 0.2))


def code_listing(blocks: Sequence[CodeBlock], key: str, landed: Collection[int] = ()) -> "Markup":
    """Return instructions as HTML: an element for each run of one source line, and for each linked instruction.

    Args:
        blocks: basic blocks of the program.
        key: the kernel's name in the page's anchors.
        landed: positions of instructions to which findings link.
    """
    from markupsafe import Markup

    seen: set[tuple[int, int]] = set()
    marked = set(landed)
    text = "".join(_block(block, key, seen, marked) for block in blocks if block.code)
    return Markup(text)  # noqa: S704 - everything from outside was escaped on the way


def ir_listing(lines: Sequence[IrLine]) -> "Markup":
    """Return intermediate code as HTML, with one element for consecutive lines of the same source line."""
    from markupsafe import Markup

    parts = []
    for place, run in groupby(lines, key=lambda line: line.place):
        text = "".join(f"{line.number:5}  {_text(line.text, _LONGEST_LINE)}\n" for line in run)
        name = "" if place is None else f"{place[0]}-{place[1]}"
        parts.append(text if place is None else f'<span data-l="{name}" data-n="{place[1]}">{text}</span>')
    return Markup("".join(parts))  # noqa: S704 - everything from outside was escaped on the way


def _block(block: CodeBlock, key: str, seen: set[tuple[int, int]], marked: set[int]) -> str:
    share = sum(line.share for line in block.code)
    where = f"in loop {_text(block.loop, 80)}, depth {block.depth}" if block.loop else "outside loops"
    time = f", {100 * share:.1f} % of the time" if share >= 0.0005 else ""
    head = f"<b>{_text(block.label, 80) or '(no label)'}:</b><i> {where}{time}</i>\n"
    return head + "".join(_runs(block.code, key, seen, marked))


def _runs(code: Sequence[CodeLine], key: str, seen: set[tuple[int, int]], marked: set[int]) -> Iterator[str]:
    for place, run in groupby(code, key=lambda line: line.place):
        lines = "".join(_anchored(line, key) if line.position in marked else _instruction(line) for line in run)
        if place is None:
            yield lines
            continue
        name = f"{place[0]}-{place[1]}"
        anchor = "" if place in seen else f' id="{key}-c{name}"'
        seen.add(place)
        yield f'<span{anchor} data-l="{name}" data-n="{place[1]}">{lines}</span>'


def _anchored(line: CodeLine, key: str) -> str:
    """Return an instruction with an anchor, to which a finding links."""
    return f'<em id="{key}-i{line.position}">{_instruction(line)}</em>'


def _instruction(line: CodeLine) -> str:
    text = _text(line.text.strip(), _LONGEST_INSTRUCTION)
    kind = _KINDS.get(line.kind)
    if kind is not None:
        text = f'<i class="{kind}">{text}</i>'
    number = "      "
    if line.share >= _WORTH_A_NUMBER:
        number = f'<u class="h{heat(line.share)}">{100 * line.share:5.1f} </u>'
    return f"{number}{text}{f' ; {_text(line.comment, 40)}' if line.comment else ''}\n"


def _text(text: str, longest: int) -> str:
    return escape(clean(text, longest))


def places(details: Details) -> set[tuple[int, int]]:
    """Return the source lines, as (file, line), that have instructions in the blocks."""
    return {line.place for block in details.blocks for line in block.code if line.place is not None}
