"""Draw the control flow of a kernel: blocks from top to bottom, loops as brackets on the left, jumps on the right."""

from collections import Counter

from kprof.inputs.amdgcn import AssemblyKernel, Block, InstructionClass
from kprof_analyzers.pictures import svg
from kprof_analyzers.scheduling.loops import hot_loop

_WIDTH = 460
_ROW = 54
_GAP = 22
_INDENT = 26
_TOP = 56
_LABELS = {
    InstructionClass.MATRIX: "matrix",
    InstructionClass.VALU: "valu",
    InstructionClass.VMEM: "vmem",
    InstructionClass.LDS: "lds",
    InstructionClass.SCRATCH: "scratch",
    InstructionClass.SALU: "salu",
    InstructionClass.WAIT: "wait",
    InstructionClass.BARRIER: "barrier",
}


def to_svg(program: AssemblyKernel) -> str:
    """Return the picture as SVG.

    Blocks inside loops are tinted, more strongly the more instructions they have. The hot loop's bracket is red, and
    back edges are dashed.
    """
    depth = max((loop.depth for loop in program.loops), default=0)
    left = 24 + depth * _INDENT
    lanes = _jump_lanes(program)
    width = left + _WIDTH + 40 + 14 * (max(lanes.values(), default=0) + 1)
    height = _TOP + len(program.blocks) * (_ROW + _GAP) + 10
    top = {block.index: _TOP + block.index * (_ROW + _GAP) for block in program.blocks}
    body = [svg.ARROW, svg.text(24, 24, f"{program.name}   {program.arch}", size=15)]
    body.append(svg.text(24, 42, _summary(program), colour="#666666"))
    body += _brackets(program, top)
    for block in program.blocks:
        body += _box(program, block, left, top[block.index])
    for (source, target), lane in lanes.items():
        body.append(_jump(left + _WIDTH, top[source], top[target], lane))
    for block in program.blocks:
        if block.index + 1 in block.successors:
            x, y = left + 40, top[block.index] + _ROW
            body.append(svg.path(f"M{x} {y}V{y + _GAP}", colour="#888888"))
    return svg.document(width, height, body, f"Control flow of {program.name}")


def to_dot(program: AssemblyKernel) -> str:
    """Return the control flow as a Graphviz graph, with loops as clusters."""
    lines = [
        f"digraph {_quoted(program.name)} {{",
        '  node [shape=box, style=filled, fontname="monospace", fontsize=10];',
    ]
    lines += _clusters(program, None, "  ")
    for block in program.blocks:
        for successor in block.successors:
            back = any(
                loop.header_block == successor and block.index in loop.blocks and block.index in loop.latches
                for loop in program.loops
            )
            lines.append(f"  b{block.index} -> b{successor}{' [style=dashed, color=red]' if back else ''};")
    return "\n".join([*lines, "}", ""])


def _summary(program: AssemblyKernel) -> str:
    counts = {"instruction": program.instructions, "block": program.blocks, "loop": program.loops}
    return ", ".join(_several(len(items), noun) for noun, items in counts.items())


def _weight(program: AssemblyKernel, block: Block) -> float:
    """Return the tint of a block: 0 outside loops, 0.25 to 1 by its number of instructions inside loops."""
    inside = [loop.depth for loop in program.loops if block.index in loop.blocks]
    if not inside:
        return 0.0
    longest = max(b.end - b.start for b in program.blocks)
    return 0.25 + 0.75 * (block.end - block.start) / longest


def _block_text(program: AssemblyKernel, block: Block) -> tuple[str, str]:
    classes = Counter(program.instructions[i].opcode.cls for i in range(block.start, block.end))
    label = block.label or f"block {block.index}"
    counts = "  ".join(f"{n} {_LABELS[cls]}" for cls, n in classes.most_common() if cls in _LABELS)
    lines = [
        frame.line for i in range(block.start, block.end) if (frame := program.instructions[i].user_frame) is not None
    ]
    where = ""
    if lines:
        first, last = min(lines), max(lines)
        where = f"   line {first}" if first == last else f"   lines {first}-{last}"
    return f"{label}   {_several(block.end - block.start, 'instruction')}{where}", counts


def _several(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _box(program: AssemblyKernel, block: Block, x: float, y: float) -> list[str]:
    title, counts = _block_text(program, block)
    return [
        svg.rectangle(x, y, _WIDTH, _ROW, fill=svg.heat(_weight(program, block))),
        svg.text(x + 10, y + 21, title),
        svg.text(x + 10, y + 41, counts, size=11, colour="#555555"),
    ]


def _brackets(program: AssemblyKernel, top: dict[int, int]) -> list[str]:
    if not program.loops:
        return []
    hot = hot_loop(program).index
    found = []
    for loop in program.loops:
        x = 24 + (loop.depth - 1) * _INDENT
        first, last = top[min(loop.blocks)], top[max(loop.blocks)] + _ROW
        colour = "#d73027" if loop.index == hot else "#4575b4"
        found.append(svg.path(f"M{x + 12} {first}H{x}V{last}H{x + 12}", colour=colour, width=2.5, arrow=False))
    return found


def _jump_lanes(program: AssemblyKernel) -> dict[tuple[int, int], int]:
    """Assign each jump a column right of the blocks; overlapping jumps get different columns, short ones inner ones."""
    jumps = [(b.index, s) for b in program.blocks for s in b.successors if s != b.index + 1]
    lanes: dict[tuple[int, int], int] = {}
    taken: list[list[tuple[int, int]]] = []
    for source, target in sorted(jumps, key=lambda jump: abs(jump[0] - jump[1])):
        span = (min(source, target), max(source, target))
        lane = next(
            (n for n, spans in enumerate(taken) if all(span[1] < a or b < span[0] for a, b in spans)), len(taken)
        )
        if lane == len(taken):
            taken.append([])
        taken[lane].append(span)
        lanes[source, target] = lane
    return lanes


def _jump(x: float, source: float, target: float, lane: int) -> str:
    start, end = source + _ROW - 12, target + 12
    out = x + 20 + 14 * lane
    back = target <= source
    colour = "#d73027" if back else "#4575b4"
    return svg.path(f"M{x} {start}H{out}V{end}H{x + 2}", colour=colour, dashed=back)


def _clusters(program: AssemblyKernel, parent: int | None, indent: str) -> list[str]:
    children = [loop for loop in program.loops if loop.parent == parent]
    inner = {block for loop in children for block in loop.blocks}
    if parent is None:
        own = [b.index for b in program.blocks if b.index not in inner]
    else:
        own = [b for b in program.loops[parent].blocks if b not in inner]
    lines = []
    for index in own:
        block = program.blocks[index]
        title, counts = _block_text(program, block)
        colour = svg.heat(_weight(program, block))
        lines.append(f"{indent}b{index} [label={_quoted(title + chr(10) + counts)}, fillcolor={_quoted(colour)}];")
    for loop in children:
        lines.append(f"{indent}subgraph cluster_{loop.index} {{")
        lines.append(f"{indent}  label={_quoted(f'loop {loop.header}')};")
        lines += _clusters(program, loop.index, indent + "  ")
        lines.append(f"{indent}}}")
    return lines


def _quoted(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
