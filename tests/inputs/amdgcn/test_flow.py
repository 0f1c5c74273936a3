"""Blocks, dominators and loops."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import amdgcn
from kprof.inputs.amdgcn import AssemblyKernel, Flow

HEAD = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\t.amdhsa_kernel k\n\t.end_amdhsa_kernel\nk:\n'


def kernel(body: str) -> AssemblyKernel:
    """A kernel with this body; labels stand at the line's start."""
    lines = (line if line.endswith(":") else f"\t{line}" for line in body.strip().split("\n"))
    return amdgcn.parse(HEAD + "\n".join(lines) + "\n").kernel("k")


def test_nested_loops() -> None:
    """Headers, depth, parents, and inner instructions counted in the outer loop."""
    found = kernel("""
s_mov_b32 s0, 0
.LBB0_1:
s_add_u32 s0, s0, 1
.LBB0_2:
s_add_u32 s1, s1, 1
s_cbranch_scc0 .LBB0_2
s_cmp_lt_u32 s0, s2
s_cbranch_scc1 .LBB0_1
s_endpgm
""")
    outer, inner = found.loops
    assert (outer.header, outer.depth, outer.parent) == (".LBB0_1", 1, None)
    assert (inner.header, inner.depth, inner.parent) == (".LBB0_2", 2, outer.index)
    assert outer.instructions == (1, 2, 3, 4, 5)
    assert inner.instructions == (2, 3)
    assert inner.latches == (inner.header_block,)


def test_two_back_edges_make_one_loop() -> None:
    """A loop with `continue` is one loop with two latches."""
    found = kernel("""
.LBB0_1:
s_add_u32 s0, s0, 1
s_cbranch_scc0 .LBB0_1
s_add_u32 s1, s1, 1
s_cbranch_scc0 .LBB0_1
s_endpgm
""")
    assert len(found.loops) == 1
    assert len(found.loops[0].latches) == 2


def test_irreducible_edges_are_reported() -> None:
    """A loop with two entries has no header; the edge is listed, nothing fails."""
    found = kernel("""
s_cbranch_scc0 .LBB0_2
.LBB0_1:
s_add_u32 s0, s0, 1
.LBB0_2:
s_add_u32 s1, s1, 1
s_cbranch_scc1 .LBB0_1
s_endpgm
""")
    assert found.loops == ()
    assert len(found.flow.irreducible) == 1


def test_unreachable_blocks_and_ends() -> None:
    """Code behind s_endpgm belongs to no loop and has no dominator."""
    found = kernel("s_endpgm\n.LBB0_1:\ns_nop 0\ns_branch .LBB0_1")
    assert found.flow.dominators == (None, None)
    assert found.loops == ()
    assert found.blocks[0].successors == ()


def test_far_jumps_are_followed() -> None:
    """A jump through a computed address, as LLVM writes when the distance is too large."""
    found = kernel("""
.LBB0_1:
s_add_u32 s4, s4, 1
s_getpc_b64 s[0:1]
.Lpost_getpc0:
s_add_u32 s0, s0, (.LBB0_1-.Lpost_getpc0)&4294967295
s_addc_u32 s1, s1, (.LBB0_1-.Lpost_getpc0)>>32
s_setpc_b64 s[0:1]
""")
    assert [loop.header for loop in found.loops] == [".LBB0_1"]
    assert found.flow.indirect == ()


def test_returns_are_indirect() -> None:
    """A jump to the caller has no successors; every label then begins a block."""
    found = kernel("s_nop 0\n.LBB0_1:\ns_nop 0\ns_setpc_b64 s[30:31]")
    assert found.flow.indirect == (1,)
    assert [block.label for block in found.blocks] == ["k", ".LBB0_1"]


def test_missing_targets_do_not_matter() -> None:
    """A branch to a label that a cut file lacks ends its block and is listed."""
    found = kernel("s_cbranch_scc0 .LBB0_9\ns_endpgm")
    assert len(found.blocks) == 2
    assert found.flow.indirect == (0,)


KINDS = st.sampled_from(["", "s_branch", "s_cbranch_scc0", "s_endpgm"])
BRANCHES = st.lists(st.tuples(KINDS, st.integers(0, 14)), min_size=1, max_size=15)


def random_flow(branches: list[tuple[str, int]]) -> Flow:
    """One block for each entry: its last instruction and the block it jumps to."""
    lines = []
    for number, (branch, target) in enumerate(branches):
        lines += [f".LBB0_{number}:", "s_nop 0"]
        if branch:
            lines.append(branch if branch == "s_endpgm" else f"{branch} .LBB0_{target % len(branches)}")
    return kernel("\n".join([*lines, "s_endpgm"])).flow


def reachable(flow: Flow, without: int | None = None) -> set[int]:
    """Blocks reachable from the entry when one block is taken out."""
    seen: set[int] = set()
    stack = [0]
    while stack:
        block = stack.pop()
        if block not in seen and block != without:
            seen.add(block)
            stack.extend(flow.blocks[block].successors)
    return seen


@given(BRANCHES)
def test_dominators_against_their_definition(branches: list[tuple[str, int]]) -> None:
    """A block's dominators are those without which it cannot be reached."""
    flow = random_flow(branches)
    everything = reachable(flow)
    lost = {block: everything - reachable(flow, block) for block in everything}
    for block in range(len(flow.blocks)):
        chain = []
        at = flow.dominators[block]
        while at is not None:
            chain.append(at)
            at = flow.dominators[at]
        expected = {d for d in everything if d != block and block in lost[d]}
        assert set(chain) == (expected if block in everything else set())


@given(BRANCHES)
def test_loops_are_natural_and_nest(branches: list[tuple[str, int]]) -> None:
    """A header dominates its loop; loops are disjoint or nested; blocks cover all instructions."""
    flow = random_flow(branches)
    assert flow.blocks[0].start == 0
    assert all(left.end == right.start for left, right in pairwise(flow.blocks))
    bodies = [set(loop.blocks) for loop in flow.loops]
    for loop, body in zip(flow.loops, bodies, strict=True):
        assert body.isdisjoint(reachable(flow, loop.header_block))
        assert all(loop.header_block in flow.blocks[latch].successors for latch in loop.latches)
        assert all(not (body & other) or body <= other or other <= body for other in bodies)
        if loop.parent is not None:
            assert body < bodies[loop.parent]
            assert flow.loops[loop.parent].depth == loop.depth - 1
    for block in flow.blocks:
        assert all(block.index in flow.blocks[s].predecessors for s in block.successors)
