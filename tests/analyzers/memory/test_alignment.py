"""How aligned addresses are and how constant masks: compared with what Triton makes of them."""

from pathlib import Path

import pytest

from kprof.inputs import mlir
from kprof.inputs.amdgcn import InstructionClass
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.memory.alignment import known_alignment, mask_is_constant
from kprof_analyzers.memory.dataflow import global_loads
from kprof_analyzers.memory.narrowness import mask_of
from kprof_analyzers.pipeline import facts_of

FILE = Path(__file__).parents[2] / "rules" / "ab_kernels" / "aligned.py"
BOTH, NO_COLUMNS, NO_STRIDE = "i32:16,i32:16", "i32,i32:16", "i32:16,i32"
FORMS = [
    *((wide, 0, "none", BOTH) for wide in (4001, 4002, 4004, 4008)),
    *((0, shift, "none", BOTH) for shift in (1, 2, 4, 8)),
    *((0, 0, mask, divisible) for mask in ("below", "above", "up to") for divisible in (BOTH, NO_COLUMNS, NO_STRIDE)),
    (0, 8, "below", BOTH),
    (0, 4, "below", BOTH),
    (0, 0, "third", BOTH),
    (0, 0, "row", BOTH),
    (0, 0, "row", NO_COLUMNS),
    (0, 0, "hint", NO_STRIDE),
]


@pytest.mark.triton
@pytest.mark.parametrize(("wide", "shift", "mask", "divisible"), FORMS)
def test_as_triton_decides(wide, shift, mask, divisible):
    """Its own analysis decides the width of the loads; alignment and mask explain that width."""
    pytest.importorskip("triton")
    constexprs = {"BLOCK": 2048, "WIDE": wide, "SHIFT": shift, "MASK": mask}
    options = CompileOptions(
        arch=("gfx942",),
        signature=f"*fp16:16,*fp32:16,{divisible}",
        constexpr=constexprs,
        config={"num_warps": 4},
    )
    (kernel,) = load(f"{FILE}::rows", options)
    facts, _ = facts_of(kernel)
    opcodes = [i.opcode for i in facts.program.instructions if i.opcode.cls is InstructionClass.VMEM]
    width = max(opcode.bytes_per_lane or 0 for opcode in opcodes if opcode.is_load)
    (read,) = global_loads(facts.ttgir)
    found = mask_of(read)
    constant = next((w for w in (16, 8, 4) if found is None or mask_is_constant(read, found, 0, w)), 2)
    assert min(known_alignment(read, 0, 16), constant) == width


HEAD = """#b = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %t: i32 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %c64 = arith.constant 64 : i32
    %four = arith.constant dense<4> : tensor<2048xi32, #b>
    %r = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #b>
"""
LOAD = "%v = amdg.buffer_load %x[{}] : !tt.ptr<f16> -> tensor<2048xf16, #b>\n"
TAIL = "    tt.return\n  }\n}\n"


def alignment(body):
    """Of the last load of a function with a range %r at hand."""
    *_, read = global_loads(mlir.parse(HEAD + body + TAIL))
    return known_alignment(read, 0, 16)


def plus(scalar):
    """The range moved on by a number."""
    return (
        f"    %s = tt.splat {scalar} : i32 -> tensor<2048xi32, #b>\n"
        "    %o = arith.addi %r, %s : tensor<2048xi32, #b>\n    " + LOAD.format("%o")
    )


@pytest.mark.parametrize(
    ("scalar", "known"),
    [
        ("%c0", 16),
        ("%c4", 8),
        ("%t", 16),
        ("%n", 2),
        ("muli %n, %c4", 8),
        ("muli %n, %c64", 16),
        ("divsi %t, %c4", 8),
        ("divsi %c64, %c8", 16),
        ("divsi %t, %n", 2),
        ("divsi %n, %c4", 2),
        ("remsi %t, %c4", 8),
        ("andi %n, %c8", 16),
        ("minsi %t, %c4", 8),
        ("shli %n, %c4", None),
    ],
)
def test_arithmetic(scalar, known):
    """What divides both sides divides a sum, a remainder, a minimum; products add up; the rest is not known."""
    if scalar.startswith("%"):
        assert alignment(plus(scalar)) == known
    else:
        assert alignment(f"    %a = arith.{scalar} : i32\n" + plus("%a")) == known


@pytest.mark.parametrize(("first", "step", "known"), [("%c0", "%c64", 16), ("%c4", "%c64", 8), ("%c0", "%c4", 8)])
def test_what_a_loop_counts(first, step, known):
    """The first value and the step decide."""
    body = f"    scf.for %i = {first} to %n step {step}  : i32 {{\n{plus('%i')}    }}\n"
    assert alignment(body) == known


def test_what_a_loop_carries_is_what_holds_in_every_iteration():
    """A range that moves on by 4 is aligned in the first iteration only."""
    loop = "    %e = scf.for %i = %c0 to %n step %c64 iter_args(%p = %r) -> (tensor<2048xi32, #b>)  : i32 {\n"
    body = "      " + LOAD.format("%p") + "      %q = arith.addi %p, %four : tensor<2048xi32, #b>\n"
    assert alignment(f"{loop}{body}      scf.yield %q : tensor<2048xi32, #b>\n    }}\n") == 8
    assert alignment("    " + LOAD.format("%r")) == 16
