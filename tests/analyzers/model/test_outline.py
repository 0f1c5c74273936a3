"""The way through a program: against all ways of small programs, and against the source that they were made from."""

from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import amdgcn
from kprof.inputs.amdgcn import Loop
from kprof_analyzers.model.outline import BranchNode, LoopNode, loops_of, outline, span_of

HEAD = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\t.text\n\t.globl\tk\n\t.type\tk,@function\nk:\n'
TAIL = """
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 8
\t\t.amdhsa_next_free_sgpr 8
\t.end_amdhsa_kernel
\t.text
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
"""
ADD = "v_add_f32_e32 v1, v2, v3"


def parse(lines):
    """A program of these lines."""
    return amdgcn.parse(HEAD + "\n".join(lines) + TAIL).kernels[0]


def positions(nodes):
    """An outline as nested lists of instructions."""
    return [part for n in nodes for part in ([positions(n.body)] if isinstance(n, LoopNode) else list(n))]


def ways(program, block=0):
    """Lists of blocks from one of them to an end of a program without loops."""
    following = program.blocks[block].successors
    return [[block, *rest] for to in following for rest in ways(program, to)] if following else [[block]]


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from("abe"), st.integers(1, 4)), min_size=1, max_size=9))
def test_the_longest_of_all_ways_is_taken(stretches):
    """Stretches of code that end in a branch or jump forward or in the program's end, every way through them listed."""
    lines = []
    for number, (size, ending, far) in enumerate(stretches):
        target = min(number + far, len(stretches))
        last = {"a": f"s_cbranch_scc0 .L{target}", "b": f"s_branch .L{target}", "e": "s_endpgm"}[ending]
        lines += [f".L{number}:", *[ADD] * size, last]
    program = parse([*lines, f".L{len(stretches)}:", "s_endpgm"])
    sizes = {b.index: b.end - b.start for b in program.blocks}
    every = [[i for b in way for i in range(program.blocks[b].start, program.blocks[b].end)] for way in ways(program)]
    found = outline(program)

    assert positions(found) in every
    assert len(positions(found)) == max(map(len, every)) <= sum(sizes.values())
    # Stretches that follow each other are one.
    assert all(one.stop != other.start for one, other in pairwise(found))


@dataclass
class Writer:
    """Writes a structured program, and the way through it that has the most instructions."""

    lines: list[str] = field(default_factory=list)
    count: int = 0
    labels: int = 0

    def put(self, text):
        """Write an instruction; return its position."""
        self.lines.append(text)
        self.count += 1
        return self.count - 1

    def label(self):
        """Return a new label."""
        self.labels += 1
        return f".LBB0_{self.labels}"

    def write(self, items):
        """Write statements; return what is passed, loops as lists, and how many instructions weigh as much."""
        way, weight = [], 0
        for kind, *parts in items:
            passed, heavy = getattr(self, f"write_{kind}")(*parts)
            way, weight = way + passed, weight + heavy
        return way, weight

    def write_code(self, size):
        """Straight-line code."""
        return [self.put(ADD) for _ in range(size)], size

    def write_skip(self, items):
        """Code that a branch may skip: going through it is longer."""
        end = self.label()
        branch = self.put(f"s_cbranch_scc0 {end}")
        way, weight = self.write(items)
        self.lines.append(f"{end}:")
        return [branch, *way], 1 + weight

    def write_choice(self, first, second):
        """Two sides, the first of which jumps over the other."""
        other, end = self.label(), self.label()
        branch = self.put(f"s_cbranch_scc0 {other}")
        way, weight = self.write(first)
        way.append(self.put(f"s_branch {end}"))
        self.lines.append(f"{other}:")
        otherwise, heavy = self.write(second)
        if heavy == weight + 1:
            otherwise.append(self.put(ADD))
            heavy += 1
        self.lines.append(f"{end}:")
        return ([branch, *way], weight + 2) if weight + 1 > heavy else ([branch, *otherwise], heavy + 1)

    def write_loop(self, items):
        """A loop of 16 iterations, all of whose instructions count."""
        head = self.label()
        first = self.put(ADD)
        self.lines.append(f"{head}:")
        start = self.count
        own = self.put(ADD)
        way, _ = self.write(items)
        back = [self.put("s_cmp_lt_i32 s0, s1"), self.put(f"s_cbranch_scc1 {head}")]
        return [first, [own, *way, *back]], 1 + 16 * (self.count - start)


CODE = st.tuples(st.just("code"), st.integers(1, 5))


def nested(items):
    """Statements made of others."""
    block = st.lists(items, min_size=1, max_size=3)
    return st.one_of(
        st.tuples(st.just("skip"), block), st.tuples(st.just("choice"), block, block), st.tuples(st.just("loop"), block)
    )


@given(st.lists(st.recursive(CODE, nested, max_leaves=10), min_size=1, max_size=4))
def test_of_two_sides_the_one_with_more_instructions_is_taken(items):
    """Where an inner loop's count sixteen times, as they are executed more often."""
    writer = Writer()
    way, _ = writer.write(items)
    way.append(writer.put("s_endpgm"))
    assert positions(outline(parse(writer.lines))) == way


@pytest.mark.parametrize(("other", "is_loop"), [(65, True), (67, False)])
def test_an_inner_loop_weighs_sixteen_times_its_instructions(other, is_loop):
    """One instruction, 16 times four and a jump are 66."""
    loop = [".L1:", *[ADD] * 3, "s_cbranch_scc1 .L1"]
    program = parse(["s_cbranch_scc0 .L2", ADD, *loop, "s_branch .L3", ".L2:", *[ADD] * other, ".L3:", "s_endpgm"])
    assert (len(loops_of(outline(program))) == 1) is is_loop


def test_an_empty_program_has_no_way():
    assert outline(SimpleNamespace(blocks=())) == ()


def test_an_iteration_ends_where_the_loop_goes_back():
    """Not where it is left, however long the code before is; of two ways back the longer one is an iteration."""
    program = parse(
        [
            ".L1:",
            *[ADD] * 2,  # 0, 1
            "s_cbranch_scc0 .L2",
            *[ADD] * 3,  # 3 to 5
            "s_cbranch_scc0 .L1",
            "s_cbranch_scc0 .L3",
            *[ADD] * 9,  # 8 to 16, then out of the loop
            "s_branch .L3",
            ".L2:",
            ADD,  # 18
            "s_cbranch_scc1 .L1",
            ".L3:",
            "s_endpgm",
        ]
    )
    assert positions(outline(program))[0] == [0, 1, 2, 3, 4, 5, 6]


def test_a_loop_without_end_is_all_of_the_way():
    """Its own instructions, as one that ends."""
    program = parse([ADD, ".L1:", ADD, ADD, "s_branch .L1", "s_endpgm"])
    assert positions(outline(program)) == [0, [1, 2, 3]]


@pytest.mark.parametrize(("other", "is_loop"), [(47, True), (49, False)])
def test_a_loop_without_end_is_an_end_of_the_way(other, is_loop):
    """Three instructions, 16 times each, against a side that comes to the program's end."""
    program = parse(["s_cbranch_scc0 .L2", ".L1:", ADD, ADD, "s_branch .L1", ".L2:", *[ADD] * (other - 1), "s_endpgm"])
    way = [0, [1, 2, 3]] if is_loop else [0, *range(4, 4 + other)]
    assert positions(outline(program)) == way


def test_code_that_goes_round_without_a_loop_ends_anywhere():
    """Two blocks that jump to each other and are entered both: no natural loop, and no end; each is passed once."""
    program = parse(["s_cbranch_scc0 .L2", ".L1:", *[ADD] * 3, "s_branch .L2", ".L2:", *[ADD] * 2, "s_branch .L1"])
    assert not program.loops
    assert positions(outline(program)) == list(range(8))


SLOW = [
    "v_mov_b32 v9, 0xfe5163ab",
    *["v_mad_u64_u32 v[0:1], s[0:1], v2, v3, v[4:5]"] * 6,
    "v_alignbit_b32 v0, v1, v2, 3",
]


@pytest.mark.parametrize("quick", [1, 3])
def test_the_slow_way_of_a_function_is_passed_by(quick):
    """However short the other one is: multiplying an angle by many bits of 2/pi is for large ones only."""
    program = parse(
        [ADD, "s_cbranch_execz .L1", *SLOW, "s_branch .L2", ".L1:", *[ADD] * quick, ".L2:", ADD, "s_endpgm"]
    )
    assert positions(outline(program)) == [0, 1, *range(11, 13 + quick)]
    # It is gone through where no other way is.
    assert positions(outline(parse([ADD, "s_cbranch_execz .L1", ".L1:", *SLOW, "s_endpgm"]))) == list(range(11))


def test_a_slow_way_in_a_loop_is_passed_by_as_well():
    lines = [ADD, ".L1:", ADD, "s_cbranch_execz .L2", *SLOW, ".L2:", ADD, "s_cbranch_scc1 .L1", "s_endpgm"]
    assert positions(outline(parse(lines))) == [0, [1, 2, 11, 12], 13]


def node(kind, *body):
    """A loop with this body."""
    return kind(Loop(0, "", 0, (0,), (0,), 1, None, ()), body)


def test_a_loop_s_own_instructions_are_between_its_first_and_last():
    """Those of inner loops are not, but where they lie between; branches of an iteration are its own."""
    inner, branch = node(LoopNode, range(20, 30)), node(BranchNode, range(40, 44))
    assert span_of(node(LoopNode, range(10, 20), inner, range(30, 33))) == range(10, 33)
    assert span_of(node(LoopNode, range(10, 20), inner)) == range(10, 20)
    assert span_of(node(LoopNode, range(10, 20), inner, branch)) == range(10, 44)
    assert span_of(node(LoopNode, branch, range(10, 20))) == range(10, 44)
    assert span_of(node(LoopNode, range(50, 50), range(10, 20))) == range(10, 20)
    # Cycles are noted somewhere all the same: one instruction of a loop that has none of its own.
    assert span_of(node(LoopNode, inner)) == range(1)


def test_loops_are_listed_outer_before_inner():
    inner, other = node(LoopNode, range(2, 3)), node(BranchNode, range(5, 6))
    outer = node(LoopNode, range(1, 2), inner, other)
    assert loops_of([range(1), outer, inner]) == [outer, inner, other, inner]
