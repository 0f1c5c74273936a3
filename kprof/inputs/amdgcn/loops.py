"""Dominators and natural loops of a control-flow graph, without recursion."""

from collections.abc import Sequence

from kprof.inputs.amdgcn.blocks import Block, Loop


def _depth_first(blocks: Sequence[Block]) -> tuple[list[int], list[tuple[int, int]]]:
    """Reachable blocks in reverse postorder, and edges to a block that is still being visited."""
    order: list[int] = []
    retreating: list[tuple[int, int]] = []
    state = [0] * len(blocks)
    stack = [(0, iter(blocks[0].successors))]
    state[0] = 1
    while stack:
        block, rest = stack[-1]
        for successor in rest:
            if state[successor] == 0:
                state[successor] = 1
                stack.append((successor, iter(blocks[successor].successors)))
                break
            if state[successor] == 1:
                retreating.append((block, successor))
        else:
            state[block] = 2
            order.append(block)
            stack.pop()
    order.reverse()
    return order, retreating


def dominators(blocks: Sequence[Block]) -> tuple[list[int | None], list[tuple[int, int]]]:
    """Immediate dominator of each block, and retreating edges.

    Iterates to a fixed point over reverse postorder (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
    Algorithm", 2001). The entry and unreachable blocks have ``None``.
    """
    order, retreating = _depth_first(blocks)
    rank = {block: position for position, block in enumerate(order)}
    idom: dict[int, int] = {0: 0}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            best: int | None = None
            for predecessor in blocks[block].predecessors:
                if predecessor not in idom:
                    continue
                if best is None:
                    best = predecessor
                    continue
                left, right = predecessor, best
                while left != right:
                    while rank[left] > rank[right]:
                        left = idom[left]
                    while rank[right] > rank[left]:
                        right = idom[right]
                best = left
            if best is not None and idom.get(block) != best:
                idom[block] = best
                changed = True
    return [idom[n] if n and n in idom else None for n in range(len(blocks))], retreating


def _intervals(idom: Sequence[int | None]) -> list[tuple[int, int]]:
    """First and last visit of each block in the dominator tree: one block dominates another when it encloses it."""
    children: list[list[int]] = [[] for _ in idom]
    for block, parent in enumerate(idom):
        if parent is not None:
            children[parent].append(block)
    intervals = [(-1, -1)] * len(idom)
    clock = 0
    stack = [(0, False)]
    while stack:
        block, done = stack.pop()
        if done:
            intervals[block] = (intervals[block][0], clock)
            continue
        clock += 1
        intervals[block] = (clock, clock)
        stack.append((block, True))
        stack.extend((child, False) for child in children[block])
    return intervals


def _body(blocks: Sequence[Block], header: int, latches: Sequence[int]) -> set[int]:
    members = {header}
    stack = list(latches)
    while stack:
        block = stack.pop()
        if block not in members:
            members.add(block)
            stack.extend(blocks[block].predecessors)
    return members


def natural_loops(
    blocks: Sequence[Block], idom: Sequence[int | None], retreating: Sequence[tuple[int, int]]
) -> tuple[tuple[Loop, ...], tuple[tuple[int, int], ...]]:
    """Natural loops (those with one header are merged), and retreating edges that close no natural loop."""
    latches: dict[int, list[int]] = {}
    irreducible = []
    intervals = _intervals(idom)
    for source, target in retreating:
        if intervals[target][0] <= intervals[source][0] and intervals[source][1] <= intervals[target][1]:
            latches.setdefault(target, []).append(source)
        else:
            irreducible.append((source, target))
    reachable = {0} | {n for n, dominator in enumerate(idom) if dominator is not None}
    bodies = {header: _body(blocks, header, sources) & reachable for header, sources in latches.items()}
    # A loop lies inside another when its header does; sorting by size puts the outer ones first.
    order = sorted(bodies, key=lambda header: (-len(bodies[header]), header))
    parents: dict[int, int | None] = {}
    innermost: dict[int, int] = {}
    for header in order:
        parents[header] = innermost.get(header)
        innermost.update(dict.fromkeys(bodies[header], header))
    depths: dict[int, int] = {}
    for header in order:
        parent = parents[header]
        depths[header] = 1 if parent is None else depths[parent] + 1
    numbering = {header: n for n, header in enumerate(sorted(order, key=lambda h: (h, depths[h])))}
    loops = []
    for header, index in sorted(numbering.items(), key=lambda item: item[1]):
        members = tuple(sorted(bodies[header]))
        parent = parents[header]
        loops.append(
            Loop(
                index=index,
                header=blocks[header].label or f"block {header}",
                header_block=header,
                blocks=members,
                latches=tuple(sorted(latches[header])),
                depth=depths[header],
                parent=None if parent is None else numbering[parent],
                instructions=tuple(i for n in members for i in range(blocks[n].start, blocks[n].end)),
            )
        )
    return tuple(loops), tuple(irreducible)
