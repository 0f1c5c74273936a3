"""Workgroups that come to an operation, against each workgroup's own way through the branches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs import mlir
from kprof_analyzers.model.branches import alive
from kprof_analyzers.model.scalars import Evaluator

WORKGROUPS = 4
HEAD = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%a: i32, %b: i32, %c: i32, %p: !tt.ptr<i1>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
"""


def operations(lines, arguments, workgroups=WORKGROUPS):
    """What is printed to the workgroups that print it; ``None`` where all do."""
    module = mlir.parse(HEAD + "\n".join(lines) + "\n  }\n}\n")
    evaluator = Evaluator(module, arguments, [(p, 0, 0) for p in range(workgroups)], (workgroups, 1, 1))
    return {op.text.split('"')[1]: alive(evaluator, op) for op in module.operations if op.name == "tt.print"}


def printed(name):
    """An operation to ask about."""
    return f'tt.print "{name}" : ()'


def compared(number, kind, bound):
    """A condition: of the workgroup's number, of two arguments, or of what is loaded."""
    if kind == "loaded":
        return f"%q{number} = tt.load %p : !tt.ptr<i1>"
    return f"%q{number} = arith.cmpi slt, %{'pid' if kind == 'own' else 'c1'}, %{bound} : i32"


def truth(workgroup, kind, bound, arguments):
    """Sides that a workgroup may take."""
    known = kind != "loaded" and bound in arguments
    return [(workgroup if kind == "own" else 1) < arguments[bound]] if known else [True, False]


def targets(number, block, last):
    """Blocks that the end of a block may lead to."""
    return [min(number + far, last) for far in block[1:3]]


def way(blocks, workgroup, arguments):
    """Blocks that a workgroup may come to."""
    seen, left = set(), [0]
    while left:
        number = left.pop()
        seen.add(number)
        if number < len(blocks) and blocks[number][0] != "return":
            kind, _, _, condition, bound = blocks[number]
            first, second = targets(number, blocks[number], len(blocks))
            sides = [True] if kind == "jump" else truth(workgroup, condition, bound, arguments)
            left += [first if side else second for side in sides]
    return seen


BLOCKS = st.lists(
    st.tuples(
        st.sampled_from(["branch", "branch", "branch", "jump", "return"]),
        st.integers(1, 3),
        st.integers(1, 3),
        st.sampled_from(["own", "own", "same", "loaded"]),
        st.sampled_from("abc"),
    ),
    min_size=1,
    max_size=7,
)


@given(BLOCKS, st.dictionaries(st.sampled_from("abc"), st.integers(0, WORKGROUPS)))
def test_each_workgroup_comes_to_the_blocks_of_its_own_way(blocks, arguments):
    """Blocks that end in a branch or jump forward or in a return; a workgroup takes both sides of what is not known."""
    lines = []
    for number, block in enumerate(blocks):
        kind, _, _, condition, bound = block
        first, second = targets(number, block, len(blocks))
        lines += [f"^bb{number}:"] if number else []
        lines += [printed(number), compared(number, condition, bound)]
        ending = {"branch": f"cf.cond_br %q{number}, ^bb{first}, ^bb{second}", "jump": f"cf.br ^bb{first}"}
        lines.append(ending.get(kind, "tt.return"))
    found = operations([*lines, f"^bb{len(blocks)}:", printed(len(blocks)), "tt.return"], arguments)
    ways = [way(blocks, p, arguments) for p in range(WORKGROUPS)]
    text = "\n".join(line for line in lines if line.startswith("cf."))
    for number in range(len(blocks) + 1):
        here = [int(number in mine) for mine in ways]
        # A block that no branch names is not looked into.
        named = not number or f"^bb{number}" in text
        assert found[str(number)] == (here if named and not all(here) else None)


@pytest.mark.parametrize(
    ("condition", "arguments", "then", "otherwise"),
    [
        ("%pid, %a", {"a": 1}, [1, 0, 0, 0], [0, 1, 1, 1]),
        ("%pid, %a", {"a": 4}, None, [0, 0, 0, 0]),
        ("%pid, %a", {"a": 0}, [0, 0, 0, 0], None),
        ("%pid, %a", {}, None, None),
        ("%c1, %a", {"a": 2}, None, [0, 0, 0, 0]),
        ("%c1, %a", {"a": 1}, [0, 0, 0, 0], None),
    ],
)
def test_sides_of_a_branch_are_its_condition_and_the_opposite(condition, arguments, then, otherwise):
    lines = [
        f"%q = arith.cmpi slt, {condition} : i32",
        *("scf.if %q {", printed("then"), "} else {", printed("else"), "}", printed("behind"), "tt.return"),
    ]
    assert operations(lines, arguments) == {"then": then, "else": otherwise, "behind": None}


def test_branches_in_branches_have_to_be_taken_all():
    """Workgroups 1 and 2 of four: below 3, not below 1; behind an early return of those below 2 only workgroup 2."""
    inner = ["scf.if %low {", "} else {", printed("both"), "}"]
    compare = ["%q = arith.cmpi slt, %pid, %a : i32", "%low = arith.cmpi slt, %pid, %b : i32"]
    nested = [*compare, "scf.if %q {", *inner, printed("one"), "}", "tt.return"]
    assert operations(nested, {"a": 3, "b": 1}) == {"both": [0, 1, 1, 0], "one": [1, 1, 1, 0]}
    early = ["%early = arith.cmpi slt, %pid, %c : i32", "cf.cond_br %early, ^bb1, ^bb2", "^bb1:", "tt.return", "^bb2:"]
    assert operations([*early, *nested], {"a": 3, "b": 1, "c": 2}) == {"both": [0, 0, 1, 0], "one": [0, 0, 1, 0]}


def test_a_branch_in_a_loop_may_be_taken_in_some_iterations():
    """The one around the loop counts, the one in it does not."""
    lines = [
        *("%q = arith.cmpi slt, %pid, %a : i32", "scf.if %q {", "scf.for %i = %c0 to %b step %c1 : i32 {"),
        *("%low = arith.cmpi slt, %i, %c1 : i32", "scf.if %low {", printed("inner"), "}", "}", "}", "tt.return"),
    ]
    assert operations(lines, {"a": 2, "b": 5}) == {"inner": [1, 1, 0, 0]}


def test_branches_in_a_branch_s_blocks_are_not_the_function_s():
    """A region of its own may have blocks of the same names."""
    region = ["scf.execute_region {", "cf.cond_br %q, ^bb1, ^bb2", "^bb1:", "scf.yield", "^bb2:", "scf.yield", "}"]
    lines = ["%q = arith.cmpi slt, %pid, %a : i32", "%r = arith.cmpi slt, %pid, %b : i32", *region]
    lines += ["cf.cond_br %r, ^bb1, ^bb2", "^bb1:", printed("one"), "tt.return", "^bb2:", printed("two"), "tt.return"]
    assert operations(lines, {"a": 1, "b": 3}) == {"one": [1, 1, 1, 0], "two": [0, 0, 0, 1]}


def test_conditions_are_told_from_what_branches_hand_on():
    """A result of a branch, and an argument of a block, stand behind the condition."""
    lines = ["%q = arith.cmpi slt, %pid, %a : i32", "%r = arith.cmpi slt, %pid, %b : i32"]
    chosen = ["%s = scf.if %q -> (i1) {", printed("then"), "scf.yield %r : i1", "} else {", "scf.yield %r : i1", "}"]
    assert operations([*lines, *chosen, "tt.return"], {"a": 1, "b": 3}) == {"then": [1, 0, 0, 0]}
    blocks = ["cf.cond_br %q, ^bb1(%r : i1), ^bb2", "^bb1(%s: i1):", printed("one"), "tt.return", "^bb2:", "tt.return"]
    assert operations([*lines, *blocks], {"a": 1, "b": 3}) == {"one": [1, 0, 0, 0]}


def edges(blocks, workgroup, arguments):
    """Edges that a workgroup may take to each block, as the numbers that they pass on: 2 for each block they leave."""
    found = {}
    for number in way(blocks, workgroup, arguments) - {len(blocks)}:
        kind, _, _, condition, bound = blocks[number]
        sides = [True] if kind == "jump" else truth(workgroup, condition, bound, arguments)
        for side in sides if kind != "return" else []:
            target = targets(number, blocks[number], len(blocks))[not side]
            found.setdefault(target, set()).add(2 * number + (not side))
    return found


@given(BLOCKS, st.dictionaries(st.sampled_from("abc"), st.integers(0, WORKGROUPS)))
def test_a_block_s_argument_is_what_the_taken_branch_passes(blocks, arguments):
    """Each branch passes its own number; an argument is unknown where a workgroup may take several branches to it."""
    lines = [f"%e{number} = arith.constant {number} : i32" for number in range(2 * len(blocks))]
    for number, block in enumerate(blocks):
        kind, _, _, condition, bound = block
        first, second = targets(number, block, len(blocks))
        lines += [f"^bb{number}(%v{number}: i32):", f'tt.print "{number}" : %v{number} : i32'] if number else []
        lines.append(compared(number, condition, bound))
        sides = f"^bb{first}(%e{2 * number} : i32)", f"^bb{second}(%e{2 * number + 1} : i32)"
        ending = {"branch": f"cf.cond_br %q{number}, {sides[0]}, {sides[1]}", "jump": f"cf.br {sides[0]}"}
        lines.append(ending.get(kind, "tt.return"))
    last = len(blocks)
    lines += [f"^bb{last}(%v{last}: i32):", f'tt.print "{last}" : %v{last} : i32', "tt.return"]
    module = mlir.parse(HEAD + "\n".join(lines) + "\n  }\n}\n")
    evaluator = Evaluator(module, arguments, [(p, 0, 0) for p in range(WORKGROUPS)], (WORKGROUPS, 1, 1))
    ways = [edges(blocks, p, arguments) for p in range(WORKGROUPS)]
    for op in (op for op in module.operations if op.name == "tt.print"):
        taken = [mine.get(int(op.text.split('"')[1]), set()) for mine in ways]
        value = evaluator.value(evaluator.flow.inputs(op)[0])
        if not any(taken) or any(len(numbers) > 1 for numbers in taken):
            assert value is None
        else:
            assert all(numbers in (set(), {got}) for numbers, got in zip(taken, value, strict=True))


EARLY = """\
    %n = arith.addi %pid, %c1 : i32
    %none = arith.cmpi slt, %n, %a : i32
    cf.cond_br %none, ^bb2(%c0 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    cf.br ^bb2(%n : i32)
  ^bb2(%m: i32 loc("a.py":3:5)):  // 2 preds: ^bb0, ^bb1
    scf.for %i = %c0 to %m step %c1 : i32 {
    }
    tt.return
"""


@pytest.mark.parametrize(
    ("arguments", "iterations", "missing"),
    [({"a": 3}, [0, 0, 3, 4], ()), ({"a": 0}, [1, 2, 3, 4], ()), ({}, None, ("a",))],
)
def test_iterations_after_an_early_return_of_an_inlined_function(arguments, iterations, missing):
    """A function with an early return is inlined as blocks that pass on what it returns."""
    module = mlir.parse(HEAD + EARLY + "  }\n}\n")
    evaluator = Evaluator(module, arguments, [(p, 0, 0) for p in range(WORKGROUPS)], (WORKGROUPS, 1, 1))
    (loop,) = [op for op in module.operations if op.is_loop]
    assert evaluator.trips(loop) == iterations
    assert evaluator.missing(loop) == missing


def test_what_loaded_data_decides_is_not_certain():
    """The condition is read from memory: both values may be passed on."""
    text = EARLY.replace("arith.cmpi slt, %n, %a : i32", "tt.load %p : !tt.ptr<i1>")
    module = mlir.parse(HEAD + text + "  }\n}\n")
    evaluator = Evaluator(module, {}, [(p, 0, 0) for p in range(WORKGROUPS)], (WORKGROUPS, 1, 1))
    (loop,) = [op for op in module.operations if op.is_loop]
    assert evaluator.trips(loop) is None
    assert evaluator.missing(loop) == ("values of p",)


def test_an_argument_comes_from_all_that_branches_pass():
    module = mlir.parse(HEAD + EARLY + "  }\n}\n")
    evaluator = Evaluator(module, {}, [(0, 0, 0)], (1, 1, 1))
    (loop,) = [op for op in module.operations if op.is_loop]
    producers = {op.name for op in evaluator.flow.back(evaluator.flow.inputs(loop)[1])}
    assert producers == {"arith.constant", "arith.addi", "tt.get_program_id"}


@pytest.mark.parametrize(("blocks", "known"), [(100, [1, 1, 2, 3]), (3000, None)])
def test_a_long_chain_of_blocks_is_not_followed(blocks, known):
    """The time grows with the square of the number of branches."""
    lines = ["    cf.br ^bb1(%pid : i32)"]
    for n in range(1, blocks):
        lines += [f"  ^bb{n}(%v{n}: i32):", f"    %q{n} = arith.cmpi slt, %v{n}, %a : i32"]
        lines.append(f"    cf.cond_br %q{n}, ^bb{n + 1}(%c1 : i32), ^bb{n + 1}(%v{n} : i32)")
    lines += [f"  ^bb{blocks}(%v{blocks}: i32):", f'    tt.print "x" : %v{blocks} : i32', "    tt.return"]
    module = mlir.parse(HEAD + "\n".join(lines) + "\n  }\n}\n")
    evaluator = Evaluator(module, {"a": 2}, [(p, 0, 0) for p in range(WORKGROUPS)], (WORKGROUPS, 1, 1))
    (op,) = [op for op in module.operations if op.name == "tt.print"]
    assert evaluator.value(evaluator.flow.inputs(op)[0]) == known
