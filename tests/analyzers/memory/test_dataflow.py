"""Where values come from through regions that are gone through once, as the stages of a warp pipeline are printed."""

import pytest

from kprof.inputs import mlir
from kprof_analyzers.memory.addressing import constant
from kprof_analyzers.memory.dataflow import (
    GLOBAL_STORES,
    Dataflow,
    argument,
    arguments,
    global_loads,
    is_load,
    pointer_arguments,
)

STAGES = """\
module {
  tt.func public @k(%A: !tt.ptr<f16>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%at = %A, %kept = %c0) -> (!tt.ptr<f16>, i32)  : i32 {
      %read = scf.execute_region -> f16 no_inline {
        %x = tt.load %at : !tt.ptr<f16>
        scf.yield %x : f16
      } {triton.warp_pipeline.stage = "memory"}
      %both:2 = scf.execute_region -> (!tt.ptr<f16>, i32) no_inline {
        %next = tt.addptr %at, %c64 : !tt.ptr<f16>, i32
        %more = arith.addi %kept, %c1 : i32
        scf.yield %next, %more : !tt.ptr<f16>, i32
      } {triton.warp_pipeline.stage = "product"}
      %used = arith.addf %read, %read : f16
      scf.yield %both#0, %both#1 : !tt.ptr<f16>, i32
    }
    tt.return
  }
}
"""


@pytest.fixture
def flow():
    return Dataflow(mlir.parse(STAGES))


def test_the_loop_yields_what_its_own_end_says_and_not_a_regions(flow):
    (loop,) = flow.module.named("scf.for")
    (step,) = flow.module.named("tt.addptr")
    (load,) = flow.module.named("tt.load")
    pointer = flow.input(load, 0)
    assert flow.initial(pointer) == "%A"
    assert flow.carried(loop)[pointer] == flow.results(step)[0]
    assert flow.producer(flow.following(pointer)) is step


def test_a_regions_results_are_what_it_yields_one_by_one(flow):
    (addition,) = flow.module.named("arith.addf")
    (count,) = (op for op in flow.module.named("arith.addi") if op.results)
    assert flow.producer(flow.input(addition, 0)).name == "tt.load"
    (loop,) = flow.module.named("scf.for")
    counted = list(flow.carried(loop).values())[1]
    assert flow.producer(counted) is count
    assert "tt.load" not in {op.name for op in flow.back(counted)}


def test_names_from_before_a_region_are_known_behind_it(flow):
    (loop,) = flow.module.named("scf.for")
    for op in flow.module.operations:
        for value in flow.inputs(op):
            made = flow.producer(value) is not None or flow.initial(value) is not None
            assert made or value in {"%A", "%n"} or op is loop, (op.text, value)


def parsed(*lines):
    """The data flow of a function with arguments %x, %n and %s, and values by the names of the text, the last one."""
    head = "module {\n  tt.func public @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %s: i32) {\n"
    made = Dataflow(mlir.parse(head + "".join(f"    {line}\n" for line in lines) + "    tt.return\n  }\n}\n"))
    return made, {name: value for op in made.module.operations for name, value in named(made, op)}


def named(flow, op):
    return [*zip(op.operands, flow.inputs(op), strict=False), *zip(op.results, flow.results(op), strict=True)]


def before(flow, value, **options):
    """Names of the operations that a value depends on, in the order in which they are given."""
    return [op.name.partition(".")[2] for op in flow.back(value, **options)]


CARRIED = (
    "%c0 = arith.constant 0 : i32",
    "%e:2 = scf.for %i = %c0 to %n step %c0 iter_args(%p = %x, %q = %s) -> (!tt.ptr<f16>, i32)  : i32 {",
    "%v = tt.load %p : !tt.ptr<f16>",
    "%a = tt.addptr %p, %q : !tt.ptr<f16>, i32",
    "%b = arith.addi %q, %i : i32",
    "scf.yield %a, %b : !tt.ptr<f16>, i32",
    "}",
    "%l = tt.load %e#0 : !tt.ptr<f16>",
)


def test_what_a_loop_carries_and_gives():
    """Position by position: the first value, the next one, and the last one behind the loop."""
    flow, value = parsed(*CARRIED)
    (loop,) = flow.module.named("scf.for")
    assert [flow.initial(value[name]) for name in ("%p", "%q", "%e#0", "%n")] == ["%x", "%s", None, None]
    assert [flow.following(value[name]) for name in ("%p", "%q", "%e#0")] == [value["%a"], value["%b"], value["%a"]]
    assert flow.carried(loop) == {value["%p"]: value["%a"], value["%q"]: value["%b"]}
    assert flow.carried(flow.module.operations[1]) == {}
    assert [flow.producer(value[name]) for name in ("%p", "%e#0", "%n", "%i")] == [None] * 4
    assert flow.input(loop, 1) == "%n"
    assert flow.input(loop, len(flow.inputs(loop))) == ""


def test_back_goes_through_a_loop_to_where_its_values_begin():
    flow, value = parsed(*CARRIED)
    assert before(flow, value["%l"]) == ["load", "addptr", "addi"]
    assert before(flow, value["%v"]) == ["load", "addptr", "addi"]
    assert before(flow, value["%v"], carried=False) == ["load"]
    assert before(flow, value["%v"], stop=lambda op: op.name == "tt.addptr") == ["load", "addptr"]
    assert before(flow, "%n") == []


def test_roots_are_what_nothing_in_the_module_makes():
    """Arguments and counters, also where a loop carries what is computed from them; no further than the ends."""
    flow, value = parsed(*CARRIED)
    assert flow.roots("%n") == {"%n"}
    assert flow.roots(value["%p"]) == flow.roots(value["%l"]) == flow.roots(value["%a"]) == {"%x", "%s", "%i"}
    assert flow.roots(value["%b"]) == {"%s", "%i"}
    assert flow.roots(value["%l"], ends=("tt.addptr",)) == set()
    assert flow.roots(value["%v"], ends=("tt.addptr",)) == {"%x"}
    assert flow.roots(value["%c0"]) == set()


def test_either_branch_may_have_made_a_value():
    flow, value = parsed(
        "%r:2 = scf.if %n -> (i32, i32) {",
        "%a = arith.muli %n, %n : i32",
        "%b = arith.addi %s, %s : i32",
        "scf.yield %a, %b : i32, i32",
        "} else {",
        "%a = arith.subi %s, %n : i32",
        "scf.yield %a, %s : i32, i32",
        "}",
        "%u = arith.divsi %r#1, %n : i32",
    )
    assert before(flow, value["%u"]) == ["divsi", "if", "muli", "addi", "subi"]
    (choice,) = flow.module.named("scf.if")
    first, second = (op for op in flow.module.operations if op.results == ("%a",))
    assert flow.inputs(choice)[1::2] == (flow.results(first)[0], flow.results(second)[0])
    assert flow.results(first) != flow.results(second)


def test_names_inside_a_region_end_with_it():
    """The second %a is another value, and behind both regions %a is the first one again."""
    flow, _ = parsed(
        "%a = arith.constant 1 : i32",
        "scf.for %i = %n to %n step %n  : i32 {",
        "scf.if %n {",
        "%a = arith.constant 2 : i32",
        "%u = arith.addi %a, %a : i32",
        "}",
        "%w = arith.muli %a, %a : i32",
        "}",
        "%z = arith.subi %a, %a : i32",
    )
    uses = [flow.producer(flow.input(op, 0)) for op in flow.module.named("arith.addi", "arith.muli", "arith.subi")]
    assert [constant(op) for op in uses] == [2, 1, 1]


@pytest.mark.parametrize(
    "write",
    [
        "ttg.local_store %v, %view",
        "%t = amdg.buffer_load_to_local %x[%v] into %view",
        "%t = ttg.async_copy_global_to_local %v, %view",
    ],
)
@pytest.mark.parametrize(
    "view",
    ["ttg.memdesc_index %buf[%n]", "ttg.memdesc_subview %buf[%n]", "tt.trans %buf", "arith.select %n, %buf, %buf"],
)
def test_what_is_written_to_a_buffer_is_followed_from_a_read_of_it(write, view):
    flow, value = parsed(
        "%buf = ttg.local_alloc : () -> !ttg.memdesc<64xf16, #s, #smem, mutable>",
        "%other = ttg.local_alloc : () -> !ttg.memdesc<64xf16, #s, #smem, mutable>",
        "%v = math.exp %n : f16",
        f"%view = {view} : !ttg.memdesc<64xf16, #s, #smem, mutable>",
        write,
        "%l = ttg.local_load %buf : !ttg.memdesc<64xf16, #s, #smem, mutable> -> tensor<64xf16>",
        "%o = ttg.local_load %other : !ttg.memdesc<64xf16, #s, #smem, mutable> -> tensor<64xf16>",
    )
    assert "exp" in before(flow, value["%l"], memory=True)
    assert "exp" not in before(flow, value["%l"])
    assert before(flow, value["%o"], memory=True) == ["local_load", "local_alloc"]


def test_a_buffer_that_is_allocated_with_its_contents_is_written_by_nothing_else():
    """Nor does a store to what was computed from a buffer's contents write to the buffer."""
    flow, value = parsed(
        "%v = math.exp %n : f16",
        "%buf = ttg.local_alloc %v : (tensor<64xf16>) -> !ttg.memdesc<64xf16, #s, #smem>",
        "ttg.local_store %v, %buf : tensor<64xf16> -> !ttg.memdesc<64xf16, #s, #smem>",
        "%new = ttg.local_alloc : () -> !ttg.memdesc<64xf16, #s, #smem, mutable>",
        "%old = ttg.local_load %new : !ttg.memdesc<64xf16, #s, #smem, mutable> -> tensor<64xf16>",
        "ttg.local_store %old, %buf : tensor<64xf16> -> !ttg.memdesc<64xf16, #s, #smem>",
    )
    assert before(flow, value["%buf"], memory=True) == ["local_alloc", "exp"]
    assert before(flow, value["%new"], memory=True) == ["local_alloc"]


def test_arguments_and_loads():
    flow, _ = parsed(
        "%a = tt.load %x : f16",
        "%b = amdg.buffer_load %x[%n] : f16",
        "%c = amdg.buffer_load_to_local %x[%n] into %s : f16",
        "%d = ttg.async_copy_global_to_local %x, %s : f16",
        "%e = ttg.local_load %s : f16",
        "tt.store %x, %a : f16",
        "ttg.local_store %a, %s : f16",
        "amdg.buffer_store %a, %x[%n] : f16",
    )
    assert [op.name for op in flow.module.named(*GLOBAL_STORES)] == ["tt.store", "amdg.buffer_store"]
    found = list(global_loads(flow.module))
    assert [op.results[0] for op in found] == ["%a", "%b", "%c", "%d"]
    assert [op for op in flow.module.operations if is_load(op)] == found
    assert arguments(flow.module) == ("x", "n", "s")
    assert pointer_arguments(flow.module) == ("x",)
    nothing = mlir.parse("module {\n}\n")
    assert arguments(nothing) == pointer_arguments(nothing) == ()
    assert [argument(value) for value in ("%K", "%17@4", "%in.x")] == ["K", "17", "in.x"]
