"""What values follow from, read off small modules by eye, and the results that are kept for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.memory.dataflow import flow_of
from kprof_analyzers.model.remembered import NamedValues, Way, Ways, named_values, ways_of
from kprof_analyzers.model.scalars import Evaluator

MODULE = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%n: i32, %m: i32, %p: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %twice = arith.addi %n, %n : i32
    %more = arith.muli %twice, %m : i32
    %wide = tt.splat %more : i32 -> tensor<64xi32>
    %less = arith.cmpi slt, %m, %pid : i32
    %pick = arith.select %less, %m, %twice : i32
    %data = tt.load %p : !tt.ptr<i32>
    %sum = arith.addi %data, %n : i32
    %last = scf.for %k = %c0 to %n step %c1 iter_args(%held = %more) -> (i32) : i32 {
      %next = arith.addi %held, %k : i32
      %side = arith.addi %k, %c1 : i32
      scf.yield %next : i32
    }
    tt.return
  }
}
"""


@pytest.fixture(scope="module")
def module():
    return mlir.parse(MODULE)


@pytest.fixture(scope="module")
def named(module):
    """Names as the module has them, to those that tell values of equal names apart."""
    flow = flow_of(module)
    (loop,) = (op for op in module.operations if op.name == "scf.for")
    (held,) = flow.carried(loop)
    return {**written_names(module), "%held": held}


def written_names(module):
    flow = flow_of(module)
    pairs = (pair for op in module.operations for pair in zip(op.results, flow.results(op), strict=True))
    return dict(pairs)


def test_a_value_follows_from_arguments_that_may_be_given_values(module, named):
    """The longest chain up to it is counted in operations; an argument is no operation."""
    ways = Ways(flow_of(module), frozenset())
    wanted = {
        "%c1": ((), 0),
        "%pid": ((), 0),
        "%twice": (("%n",), 1),
        "%more": (("%n", "%m"), 2),
        "%wide": (("%n", "%m"), 3),
        "%less": (("%m",), 1),
        "%pick": (("%m", "%n"), 2),
    }
    found = {name: ways.of(named[name]) for name in wanted}
    assert {name: (set(way.leaves), way.height) for name, way in found.items()} == {
        name: (set(leaves), height) for name, (leaves, height) in wanted.items()
    }
    argument = ways.of("%n")
    assert (argument.leaves, argument.height) == (("%n",), 0)
    assert ways.of(named["%twice"]) is found["%twice"]


def test_fixed_arguments_leave_nothing_that_may_be_given(module, named):
    ways = Ways(flow_of(module), frozenset({"%n"}))
    assert ways.of(named["%twice"]).leaves == ()
    assert ways.of(named["%more"]).leaves == ("%m",)
    # The loop sets its own variable, whatever an argument of that name had.
    assert Ways(flow_of(module), frozenset({"%k"})).of("%k").leaves == ("%k",)


def test_what_a_loop_carries_follows_from_itself_and_its_initial_value(module, named):
    """It may be given the value of an iteration; one operation more than the value that it starts with."""
    ways = Ways(flow_of(module), frozenset())
    held, after = ways.of(named["%held"]), ways.of(named["%next"])
    assert (held.leaves, held.height) == ((named["%held"], "%n", "%m"), 3)
    assert (set(after.leaves), after.height) == ({named["%held"], "%n", "%m", "%k"}, 4)
    assert ways.of(named["%side"]).leaves == ("%k",)


def test_what_memory_says_is_not_remembered(module, named):
    """Nor what is worked out with it."""
    ways = Ways(flow_of(module), frozenset())
    assert [ways.of(named[name]) for name in ("%data", "%sum")] == [None, None]


def chain(length):
    """A module in which one is added so many times to an argument."""
    steps = "\n".join(f"    %v{n + 1} = arith.addi %v{n}, %c1 : i32" for n in range(length))
    start = "module {\n  tt.func public @k(%v0: i32) {\n    %c1 = arith.constant 1 : i32\n"
    return mlir.parse(f"{start}{steps}\n    tt.return\n  }}\n}}\n")


@pytest.mark.parametrize(("length", "known"), [(1, True), (50, True), (99, True), (100, False), (150, False)])
def test_a_hundred_values_in_a_row_are_followed(length, known):
    """The argument is one of them."""
    module = chain(length)
    flow = flow_of(module)
    last = flow.results(module.operations[length + 2])[0]
    way = Ways(flow, frozenset()).of(last)
    assert (way is not None) is known
    if way is not None:
        assert (way.leaves, way.height) == (("%v0",), length)
    # Whoever asks for the values one after the other gets them all.
    ways = Ways(flow, frozenset())
    heights = [ways.of(flow.results(op)[0]).height for op in module.operations if op.name == "arith.addi"]
    assert heights == list(range(1, length + 1))


@pytest.mark.parametrize(("length", "known"), [(96, True), (97, True), (98, False)])
def test_what_a_loop_carries_is_one_value_in_the_row(length, known):
    """Behind the chain the loop's own value and one that is worked out from it: with the argument a hundred."""
    steps = "\n".join(f"    %v{n + 1} = arith.addi %v{n}, %c1 : i32" for n in range(length))
    loop = f"""
    %end = scf.for %k = %c1 to %v0 step %c1 iter_args(%held = %v{length}) -> (i32) : i32 {{
      %next = arith.addi %held, %c1 : i32
      scf.yield %next : i32
    }}
    tt.return
"""
    start = "module {\n  tt.func public @k(%v0: i32) {\n    %c1 = arith.constant 1 : i32\n"
    module = mlir.parse(f"{start}{steps}{loop}  }}\n}}\n")
    names = written_names(module)
    assert (Ways(flow_of(module), frozenset()).of(names["%next"]) is not None) is known


@pytest.mark.parametrize("length", [10, 99, 100, 170])
def test_long_chains_are_added_up_all_the_same(length):
    module = chain(length)
    last = flow_of(module).results(module.operations[length + 2])[0]
    assert Evaluator(module, {"v0": 5}, [(0, 0, 0)], (1, 1, 1)).value(last) == 5 + length


def test_eight_results_of_a_name_are_kept():
    """The oldest makes room for the ninth; a result may be that nothing is known."""
    way = Way(("a", "b"), 1)
    for n in range(8):
        way.add([n, 0], None if n == 3 else 10 * n)
    assert [way.held([n, 0]) for n in range(8)] == [(None if n == 3 else 10 * n,) for n in range(8)]
    assert way.held([8, 0]) is None
    assert way.held([1, 1]) is None
    way.add([8, 0], 80)
    assert [way.held([n, 0]) for n in (0, 1, 8)] == [None, (10,), (80,)]
    assert len(way.found) == 8


def test_a_key_distinguishes_values_from_names_without_one():
    """Unknown, not given and any number are three things."""
    way = Way(("a",), 1)
    keys = [way.key(given) for given in ({"a": 0}, {"a": -1}, {"a": None}, {}, {"b": 0})]
    assert keys[3] == keys[4]
    assert [keys.count(key) for key in keys] == [1, 1, 1, 2, 2]
    assert way.key({"a": [1, 2]}) == [[1, 2]]


def test_names_are_given_once():
    """A copy leaves what it was made of alone."""
    known = NamedValues({"a": 1}, {"a": 1})
    other = named_values(known, flow_of(mlir.parse("module {\n}\n")))
    other.give("b", 2)
    other.give("a", 5)
    assert (dict(other), other.given) == ({"a": 1, "b": 2}, {"a": 1, "b": 2})
    assert (dict(known), known.given) == ({"a": 1}, {"a": 1})
    # Of values that were worked out it is not known which were given.
    lost = NamedValues({"a": 1}, None)
    lost.give("b", 2)
    assert (dict(lost), lost.given) == ({"a": 1, "b": 2}, None)
    assert named_values(lost, flow_of(mlir.parse("module {\n}\n"))).given is None


def test_names_that_operations_make_were_not_given(module, named):
    flow = flow_of(module)
    assert named_values({"%n": 1, "%k": 2}, flow).given == {"%n": 1, "%k": 2}
    assert named_values({"%n": 1, named["%twice"]: 2}, flow).given is None


def test_evaluators_of_one_launch_share_what_they_know(module):
    """Of other arguments, workgroups or another grid the results are others."""
    one = (module, (("%n", 3),), ((0, 0, 0),), (1, 1, 1))
    assert ways_of(*one) is ways_of(*one)
    others = [
        (module, (("%n", 4),), ((0, 0, 0),), (1, 1, 1)),
        (module, (("%n", 3),), ((1, 0, 0),), (1, 1, 1)),
        (module, (("%n", 3),), ((0, 0, 0),), (2, 1, 1)),
    ]
    assert all(ways_of(*other) is not ways_of(*one) for other in others)


def test_four_launches_are_kept_at_once(module):
    """A kernel's own evaluators have two or three at a time."""
    first = ways_of(module, (("%n", 0),), ((0, 0, 0),), (1, 1, 1))
    for n in range(1, 4):
        ways_of(module, (("%n", n),), ((0, 0, 0),), (1, 1, 1))
    assert ways_of(module, (("%n", 0),), ((0, 0, 0),), (1, 1, 1)) is first
    for n in range(1, 5):
        ways_of(module, (("%n", n),), ((0, 0, 0),), (1, 1, 1))
    assert ways_of(module, (("%n", 0),), ((0, 0, 0),), (1, 1, 1)) is not first


WHILE = """
module {
  tt.func public @k(%n: i32, %m: i32) {
    %c1 = arith.constant 1 : i32
    %end = scf.while (%at = %n) : (i32) -> i32 {
      %go = arith.cmpi slt, %at, %m : i32
      scf.condition(%go) %at : i32
    } do {
    ^bb0(%at: i32):
      %next = arith.addi %at, %c1 : i32
      scf.yield %next : i32
    }
    tt.return
  }
}
"""


def test_what_a_while_loop_changes_is_not_fixed_by_an_argument():
    module = mlir.parse(WHILE)
    flow = flow_of(module)
    (loop,) = (op for op in module.operations if op.name == "scf.while")
    ways = Ways(flow, frozenset({"%n", "%m", *loop.operands}))
    (end,) = flow.results(loop)
    assert ways.of(end) is None
    assert all(ways.of(name).leaves == (name,) for name in loop.operands)
    assert ways.of("%m").leaves == ()


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=1, max_size=12))
def test_remembered_results_are_those_of_python(pairs):
    """Evaluators of several arguments one after the other, in any order."""
    module = mlir.parse(MODULE)
    names = written_names(module)
    for n, m in pairs:
        found = Evaluator(module, {"n": n, "m": m}, [(0, 0, 0), (7, 0, 0)], (8, 1, 1))
        assert found.value(names["%wide"]) == 2 * n * m
        assert found.value(names["%pick"]) == [m if m < p else 2 * n for p in (0, 7)]
