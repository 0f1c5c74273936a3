"""Atomics on one address: how many there are by hand, and times that were published of such kernels."""

import pytest

import kprof
from kprof_analyzers.model.contention import waiting_cycles
from kprof_analyzers.model.machine import machine_of

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
    assert said(modelled(tmp_path, "apart", 2048, 1 << 21, 1024)).endswith("taken not to wait for each other")
    assert said(modelled(tmp_path, "rows", 2048, 2560, 4096, "MI210")).endswith("taken not to wait for each other")


@pytest.mark.parametrize(("gpu", "one"), [("MI350X", 218.0), ("MI210", 0.0)])
def test_each_takes_the_way_behind_the_dies_l2(gpu, one):
    from kprof.hardware.machine import load_gpu

    arch, product = load_gpu(gpu)
    machine = machine_of(arch, product, 64)
    assert waiting_cycles(machine, 10.0) / machine.clock_mhz * 1e3 == pytest.approx(10 * one)
