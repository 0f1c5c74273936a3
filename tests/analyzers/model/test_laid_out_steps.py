"""Steps of the simulator for small outlines, written out by hand; barriers of one half from small programs."""

import pytest

from kprof.inputs.amdgcn import Loop
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.outline import BranchNode, LoopNode
from kprof_analyzers.model.program import BARRIER, SCALAR, VALU, Code
from kprof_analyzers.model.simulate import BEGIN, END, SPLIT
from kprof_analyzers.model.steps import lay_out, split_barriers

# Ten instructions, each of another length so that none is taken for another; 3 and 7 are barriers.
OPS = [(BARRIER if n in {3, 7} else VALU, float(n), (), 0.0, 0, 0) for n in range(10)]
CODE = Code(OPS, (), 0)


def node(number, *body, first, kind=LoopNode):
    """A loop with this number and body."""
    return kind(Loop(number, "", 0, (0,), (0,), 1, None, (first, first + 20)), body)


INNER = node(1, range(3, 5), first=3)
OUTER = node(0, range(2, 3), INNER, range(5, 7), first=2)
NODES = (range(2), OUTER, range(7, 10))


def plain(*positions):
    """Steps of these instructions."""
    return [(OPS[n], n) for n in positions]


def begin(number, first):
    """The step before a loop."""
    return (BEGIN, float(number), (), 0.0, 0, 0), first


def end(number, start, count, first):
    """The step behind an iteration: back to the loop's first step."""
    return (END, float(number), start, float(count), 0, 0), first


def laid_out(nodes=NODES, halves=None, iterations=None, **effects):
    """Steps of an outline; two iterations of the outer loop, three of the inner one, where nothing is said."""
    return lay_out(nodes, CODE, halves or {}, {0: 2, 1: 3} if iterations is None else iterations, Effects(**effects))


def test_loops_are_marked_where_they_begin_and_end():
    """An iteration begins behind its mark: at step 3, and in it at step 5."""
    inner = [begin(1, 3), *plain(3, 4), end(1, 5, 3, 3)]
    outer = [begin(0, 2), *plain(2), *inner, *plain(5, 6), end(0, 3, 2, 2)]
    assert laid_out() == [*plain(0, 1), *outer, *plain(7, 8, 9)]


def test_a_loop_without_iterations_is_left_out():
    """And one that nothing is said of has a single one."""
    outer = [begin(0, 2), *plain(2, 5, 6), end(0, 3, 2, 2)]
    assert laid_out(iterations={0: 2, 1: 0}) == [*plain(0, 1), *outer, *plain(7, 8, 9)]
    assert laid_out(iterations={0: 0, 1: 3}) == plain(0, 1, 7, 8, 9)
    assert laid_out((INNER,), iterations={}) == [begin(1, 3), *plain(3, 4), end(1, 1, 1, 3)]


def test_without_prologue_only_loops_remain():
    """With what is between inner loops; a kernel without loops remains as it is."""
    inner = [begin(1, 3), *plain(3, 4), end(1, 3, 3, 3)]
    assert laid_out(prologue=False) == [begin(0, 2), *plain(2), *inner, *plain(5, 6), end(0, 1, 2, 2)]
    assert laid_out((range(2), range(4, 6)), prologue=False) == plain(0, 1, 4, 5)


def test_barriers_are_left_out_with_all_that_wait_there():
    """Barriers of one half have steps of their own, which only wavefronts of that half wait at."""
    nodes = (range(2, 9),)
    split = [((SPLIT, 1.0, (), 0.0, 0, 0), 3)]
    assert laid_out(nodes) == plain(*range(2, 9))
    assert laid_out(nodes, barriers=False) == plain(2, 4, 5, 6, 8)
    assert laid_out(nodes, {3: 1}) == [*plain(2), *split, *plain(*range(4, 9))]
    assert laid_out(nodes, {3: 1}, ping_pong=False) == plain(2, *range(4, 9))
    assert laid_out(nodes, {3: 1}, barriers=False) == plain(2, 4, 5, 6, 8)
    assert laid_out(nodes, {7: 0})[5] == ((SPLIT, 0.0, (), 0.0, 0, 0), 7)
    # Other operations stay what they are, whatever is said of their place.
    assert laid_out((range(2, 3),), {2: 1}) == plain(2)


def test_a_branch_of_an_iteration_is_laid_out_as_a_loop():
    branch = node(4, range(4, 6), first=4, kind=BranchNode)
    assert laid_out((branch,), iterations={4: 1}) == [begin(4, 4), *plain(4, 5), end(4, 1, 1, 4)]


@pytest.fixture
def split(kernel):
    """``split(lines)``: barriers of one half of a program."""
    return lambda *lines: split_barriers(kernel(list(lines)).program)


ADD = "v_add_f32_e32 v1, v2, v3"
PAST = ("s_cbranch_scc1 .L9", "s_barrier", ".L9:")


def test_a_barrier_that_a_branch_jumps_over_is_one_half_s(split):
    """The first one the second half's, so that it runs behind; the next one the first half's, which waits for it."""
    first, second, third = (tuple(line.replace(".L9", f".L{n}") for line in PAST) for n in (1, 2, 3))
    assert split(*first, ADD) == {1: 1}
    assert split(*first, ADD, *second) == {1: 1, 4: 0}
    assert split(*first, ADD, *second, *third) == {1: 1, 4: 0, 6: 1}
    assert SCALAR not in {BEGIN, END, SPLIT}


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        # Beside two other instructions, but not in a longer stretch of code; not where there are two.
        (("s_cbranch_scc1 .L9", ADD, "s_barrier", ADD, ".L9:", ADD), {2: 1}),
        (("s_cbranch_scc1 .L9", ADD, "s_barrier", ADD, ADD, ".L9:", ADD), {}),
        (("s_cbranch_scc1 .L9", "s_barrier", "s_barrier", ".L9:", ADD), {}),
        (("s_cbranch_scc1 .L9", ADD, ".L9:", ADD), {}),
        # All wavefronts come to one without a branch, or with one that goes elsewhere, or which is a plain jump.
        ((ADD, "s_barrier", ADD), {}),
        (("s_cbranch_scc1 .L8", "s_barrier", "s_branch .L9", ".L8:", ADD, ".L9:", ADD), {}),
        (("s_cbranch_scc1 .L9", "s_branch .L7", ".L7:", "s_barrier", ".L9:", ADD), {}),
        (("s_cbranch_scc1 .L9", "s_barrier", "s_cbranch_scc0 .L8", ".L9:", ADD, ".L8:", ADD), {}),
        # One that ends the program has nothing behind it.
        (("s_cbranch_scc1 .L9", "s_barrier", "s_endpgm", ".L9:", ADD), {}),
        # Two branches lead to it: it is one barrier all the same.
        (
            (
                "s_cbranch_scc1 .L7",
                "s_cbranch_scc0 .L9",
                ".L8:",
                "s_barrier",
                "s_branch .L9",
                ".L7:",
                "s_cbranch_scc1 .L8",
                ".L9:",
                *("s_cbranch_scc1 .L6", "s_barrier", ".L6:"),
            ),
            {2: 1, 6: 0},
        ),
        # The branch that jumps over it may be the second of those that lead there.
        (
            (
                "s_cbranch_scc1 .L8",
                "s_cbranch_scc1 .L7",
                "s_cbranch_scc1 .L9",
                ".L8:",
                "s_barrier",
                ".L9:",
                ADD,
                ".L7:",
            ),
            {3: 1},
        ),
    ],
)
def test_a_branch_that_jumps_over_a_barrier_is_looked_for(split, lines, found):
    assert split(*lines) == found
