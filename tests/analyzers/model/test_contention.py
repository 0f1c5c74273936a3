"""Atomics on one address: how many there are by hand, and times that were published of such kernels."""

from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kprof
from kprof.inputs import mlir
from kprof_analyzers.model.contention import on_one_address, waiting_cycles
from kprof_analyzers.model.machine import machine_of
from kprof_analyzers.model.scalars import Evaluator

FILE = """
import triton
import triton.language as tl


@triton.jit
def rows(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    m = c < n
    tl.atomic_add(o + c, tl.load(x + tl.program_id(0) * n + c, mask=m, other=0.0), mask=m)


@triton.jit
def apart(x, o, n, B: tl.constexpr):
    c = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o + c, tl.load(x + c, mask=c < n, other=0.0), mask=c < n)


@triton.jit
def single(x, o, n, B: tl.constexpr):
    c = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o, tl.sum(tl.load(x + c, mask=c < n, other=0.0)))
"""


def modelled(tmp_path, name, groups, n, block, arch="MI350X"):
    file = tmp_path / "added.py"
    file.write_text(FILE, encoding="utf-8")
    return kprof.analyze(
        f"{file}::{name}", arch=arch, signature="*fp32:16,*fp32:16,i32", constexpr={"B": block}, grid=(groups,),
        shape={"n": n}, condition="flushed", try_cures=False,
    ).kernels[0].model  # fmt: skip


def said(model):
    (found,) = [line for line in model.assumptions if "on one address" in line]
    return found


@pytest.mark.triton
@pytest.mark.parametrize(("groups", "measured_us"), [(524288, 135962), (7892, 1980)])
def test_rows_that_add_to_the_same_addresses_wait_for_each_other(tmp_path, groups, measured_us):
    """The part of a published kernel that makes its time; without the waiting it is predicted at 2,174 and 42 us."""
    found = modelled(tmp_path, "rows", groups, 2560, 4096)
    assert found.time_us == pytest.approx(measured_us, rel=0.25)
    assert found.bound == "memory latency"
    assert said(found) == f"the {groups:,} atomics on one address wait for each other, 218 ns each"


@pytest.mark.triton
def test_a_scalar_is_one_address_and_elements_apart_are_none(tmp_path):
    assert said(modelled(tmp_path, "single", 2048, 1 << 21, 1024)).startswith("the 2,048 atomics")
    assert said(modelled(tmp_path, "apart", 2048, 1 << 21, 1024)).endswith("assumed not to wait for each other")
    assert said(modelled(tmp_path, "rows", 2048, 2560, 4096, "MI210")).endswith("assumed not to wait for each other")


@pytest.mark.parametrize(("gpu", "one"), [("MI350X", 218.0), ("MI210", 0.0)])
def test_each_takes_the_way_behind_the_dies_l2(gpu, one):
    from kprof.hardware.machine import load_gpu

    arch, product = load_gpu(gpu)
    machine = machine_of(arch, product, 64)
    assert waiting_cycles(machine, 10.0) / machine.clock_mhz * 1e3 == pytest.approx(10 * one)


MODULE = """
#b = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}}>
module attributes {{"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %by: i32, %turns: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %v = arith.constant 1.0 : f32
    %true = arith.constant true
    %pid = tt.get_program_id x : i32
    %n = arith.{how} %pid, %by : i32
    %at = tt.addptr %x, %n : !tt.ptr<f32>, i32
    %alone = tt.addptr %y, %pid : !tt.ptr<f32>, i32
    {body}
    tt.return
  }}
}}
"""
ADD = "%r = tt.atomic_rmw fadd, acq_rel, gpu, %{}, %v, %true : (!tt.ptr<f32>, f32, i1) -> f32"


def counted(body, programs, total, by=1, times=1.0, how="divsi"):
    """Atomics on the address that has most of them, of ``programs`` workgroups of ``total``."""
    module = mlir.parse(MODULE.format(how=how, body=body))
    evaluator = Evaluator(module, {"by": by, "turns": 3}, [(p, 0, 0) for p in range(programs)], (total, 1, 1))
    loops = [op for op in module.operations if op.is_loop]
    for loop in loops:
        evaluator.enter(loop, first=True)
    return on_one_address(SimpleNamespace(ttgir=module), evaluator, {loop.index: times for loop in loops}, total)


@given(
    how=st.sampled_from(["divsi", "remsi"]),
    by=st.integers(1, 12),
    programs=st.integers(2, 12),
    more=st.integers(1, 5),
    times=st.sampled_from([None, 0.5, 3.0]),
)
def test_the_address_with_most_atomics_of_workgroups_looked_at_stands_for_the_launch(how, by, programs, more, times):
    """One in so many of a launch are looked at; where all of these are elsewhere, no two are taken to meet."""
    add = ADD.format("at")
    body = add if times is None else f"scf.for %i = %c0 to %turns step %c1  : i32 {{\n {add}\n    }}"
    each = Counter(p // by if how == "divsi" else p % by for p in range(programs))
    most = max(each.values())
    found = counted(body, programs, programs * more, by, times or 1.0, how)
    assert found == pytest.approx((times or 1.0) * (1 if most == 1 else most * more))


def test_an_address_of_all_workgroups_is_that_of_the_launch():
    """Also of a single workgroup that was looked at."""
    for programs in (1, 4):
        assert counted(ADD.format("x"), programs, 1000) == 1000


def test_of_several_atomics_the_one_that_waits_longest_counts():
    """Four of ten workgroups on each address, all elsewhere, and one of unknown address."""
    unknown = """%where = tt.load %y : !tt.ptr<!tt.ptr<f32>>
    %s = tt.atomic_rmw fadd, acq_rel, gpu, %nowhere, %v, %true : (!tt.ptr<f32>, f32, i1) -> f32"""
    lines = [ADD.format("at"), ADD.format("alone").replace("%r", "%q"), unknown]
    for order in (lines, lines[::-1]):
        assert counted("\n    ".join(order), 8, 80, by=4) == 40
    assert counted(lines[1], 8, 80) == 1
    assert counted(unknown, 8, 80) == 0


@pytest.mark.parametrize(
    "atomic",
    [
        "%r = tt.atomic_cas acq_rel, gpu, %at, %v, %v : (!tt.ptr<f32>, f32, f32) -> f32",
        "%r = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %s, %x[%o] : tensor<64xf32, #b>",
        "%r = amdg.buffer_atomic_cas acq_rel, gpu, %s, %s, %x[%o] : tensor<64xf32, #b>",
    ],
)
def test_every_kind_of_atomic_counts(atomic):
    offsets = """%ns = tt.splat %n : i32 -> tensor<64xi32, #b>
    %lane = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
    %o = arith.addi %ns, %lane : tensor<64xi32, #b>
    %s = tt.splat %v : f32 -> tensor<64xf32, #b>
    """
    assert counted(offsets + atomic, 8, 80, by=4) == 40


def test_loads_and_stores_of_one_address_do_not_wait():
    assert counted("%r = tt.load %x : !tt.ptr<f32>\n    tt.store %x, %v : !tt.ptr<f32>", 8, 80) == 0


def test_a_gpu_of_one_die_has_nothing_to_wait_for():
    """On two the way behind L2 there and back counts for each atomic: to memory where there is no Infinity Cache."""
    latency = {"mall": 500.0, "hbm": 900.0}
    ways = [
        SimpleNamespace(
            xcds=xcds, latency_of=lambda *levels, known=known: next(latency[n] for n in levels if n in known)
        )
        for xcds, known in ((1, latency), (2, latency), (2, {"hbm"}))
    ]
    assert [waiting_cycles(machine, 3.0) for machine in ways] == [0, 1500, 2700]
