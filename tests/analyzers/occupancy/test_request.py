"""What an occupancy is computed for: checks, and compiled kernels."""

from dataclasses import dataclass

import pytest
from msgspec import UNSET

import kprof_analyzers.occupancy as package
from kprof.errors import KprofError
from kprof.hardware.machine import load
from kprof.inputs.amdgcn import Registers
from kprof_analyzers.occupancy import (
    METHODS,
    OccupancyInput,
    allocated_vgprs,
    from_kernel,
    from_registers,
    occupancy,
)


@pytest.mark.parametrize(
    ("arch", "given_", "words"),
    [
        ("gfx942", {"vgpr": -1}, "-1 VGPRs"),
        ("gfx942", {"vgpr": 513}, "can have 512"),
        ("gfx942", {"vgpr": 257, "agpr": 1}, "can have 256"),
        ("gfx942", {"vgpr": 10**30}, "can have 512"),
        ("gfx942", {"vgpr": 1, "agpr": 257}, "257 AGPRs"),
        ("gfx942", {"vgpr": 1, "sgpr": 4096}, "4096 SGPRs"),
        ("gfx942", {"vgpr": 1, "num_warps": 0}, "at least one wavefront"),
        ("gfx942", {"vgpr": 1, "num_warps": -4}, "at least one wavefront"),
        ("gfx942", {"vgpr": 1, "lds_bytes": -1}, "-1 bytes"),
        ("gfx942", {"vgpr": 1, "wavefront_size": 32}, "only of 64"),
        ("gfx942", {"vgpr": 1, "mode": "wgp"}, "no 'wgp' mode"),
        ("gfx908", {"vgpr": 257}, "can have 256"),
        ("gfx1100", {"vgpr": 1, "agpr": 1}, "no AGPRs"),
        ("gfx1100", {"vgpr": 257}, "can have 256"),
        ("gfx1100", {"vgpr": 1, "mode": "fast"}, "only wgp or cu"),
        ("gfx1250", {"vgpr": 1, "wavefront_size": 64}, "only of 32"),
        ("gfx1250", {"vgpr": 1025}, "can have 1024"),
    ],
)
def test_what_no_kernel_can_have_is_an_error_in_words(arch, given_, words):
    """Negative and absurd numbers never give an answer."""
    with pytest.raises(KprofError, match=words):
        OccupancyInput(load(arch), **given_)


def test_the_unified_total_is_taken_for_vgprs():
    """.vgpr_count of gfx90a and later contains the AGPRs: without them it may be up to 512."""
    assert OccupancyInput(load("gfx90a"), 512).vgpr_allocated == 512


def test_compiled_kernels_follow_the_descriptor():
    """next_free_vgpr with its padding decides, not the count of the code."""
    registers = Registers(vgpr=100, agpr=30, sgpr=46, next_free_vgpr=169, next_free_sgpr=96, wavefront_size=64)
    found = from_kernel(registers, lds_bytes=0, num_warps=4, arch=load("gfx942"))

    assert (found.waves_per_simd, found.limiter, found.limits["vgpr"]) == (2, "launch_bounds", 3)
    assert allocated_vgprs(registers, load("gfx942"), 64) == 176


def test_padding_of_scalar_registers():
    """From LLVM's own number where it is written, else from the descriptor and the extras of the architecture."""
    arch = load("gfx942")
    written = from_registers(
        Registers(vgpr=8, sgpr=46, next_free_sgpr=40, padded_sgpr=46), arch, lds_bytes=0, num_warps=1
    )
    derived = from_registers(Registers(vgpr=8, sgpr=97, next_free_sgpr=96), arch, lds_bytes=0, num_warps=1)
    plain = from_registers(Registers(vgpr=8, sgpr=46, next_free_sgpr=40), arch, lds_bytes=0, num_warps=1)
    xnack_off = from_registers(Registers(vgpr=8, sgpr=42, next_free_sgpr=40), load("gfx90a"), lds_bytes=0, num_warps=1)

    assert (written.padded_sgpr, derived.padded_sgpr, plain.padded_sgpr, xnack_off.padded_sgpr) == (46, 102, None, None)


def test_metadata_alone_is_enough():
    """Only .vgpr_count known: the unified total."""
    registers = Registers(total_vgpr=130, sgpr=20)
    assert from_kernel(registers, lds_bytes=0, num_warps=4, arch=load("gfx942")).waves_per_simd == 3


def test_without_registers_there_is_no_answer():
    """Unknown is not zero."""
    with pytest.raises(KprofError, match="not in the input"):
        from_kernel(Registers(), lds_bytes=0, num_warps=4, arch=load("gfx942"))
    assert allocated_vgprs(Registers(), load("gfx942"), 64) is None


@pytest.mark.parametrize(("wgp_mode", "mode"), [(True, "wgp"), (False, "cu"), (None, "wgp")])
def test_the_mode_is_what_the_kernel_was_compiled_for(wgp_mode, mode):
    """RDNA kernels say which mode they run in; without a word it is WGP."""
    demand = from_registers(Registers(vgpr=64, wgp_mode=wgp_mode), load("gfx1100"), lds_bytes=0, num_warps=4)
    assert demand.block == mode


def test_any_object_with_the_fields_will_do():
    """The analyzer does not ask for kprof's own record."""

    @dataclass
    class Counts:
        vgpr: int = 96
        agpr: None = None
        sgpr: None = None
        next_free_vgpr: None = None
        next_free_sgpr: None = None
        padded_sgpr: None = None
        total_vgpr: None = None
        wavefront_size: None = None
        wgp_mode: None = None

    assert from_kernel(Counts(), lds_bytes=0, num_warps=4, arch=load("gfx942")).waves_per_simd == 5


def test_unknown_method_is_an_error():
    """The message lists the methods."""
    with pytest.raises(KprofError, match=r"^no method 'magic'; there are hardware, llvm, guide$"):
        occupancy(OccupancyInput(load("gfx942"), 64), "magic")


def test_every_method_answers_under_its_own_name():
    """162 VGPRs are three wavefronts in blocks of 8, two in blocks of 16; LLVM 23 has other steps of SGPRs."""
    demand = OccupancyInput(load("gfx942"), 162, sgpr=88, num_warps=1)
    found = {method: occupancy(demand, method) for method in METHODS}
    assert {method: each.method for method, each in found.items()} == {name: name for name in METHODS}
    assert {method: each.waves_per_simd for method, each in found.items()} == {"hardware": 3, "llvm": 3, "guide": 2}
    few = OccupancyInput(load("gfx942"), 8, sgpr=88, num_warps=1)
    assert [occupancy(few, "llvm", llvm).waves_per_simd for llvm in (None, 23, 24)] == [7, 8, 7]


def test_only_the_hardware_s_answer_has_a_next_step():
    """The others are not what happens."""
    demand = OccupancyInput(load("gfx942"), 170)
    assert occupancy(demand).next_step.resource == "vgpr"
    assert occupancy(demand, "llvm").next_step is UNSET
    assert occupancy(demand, "guide").next_step is UNSET


def test_what_the_package_offers_is_there():
    """Each name that a star would import."""
    assert all(callable(getattr(package, name)) for name in package.__all__ if name != "METHODS")
    assert package.METHODS == ("hardware", "llvm", "guide")


@pytest.mark.parametrize("known", ["vgpr", "next_free_vgpr", "total_vgpr"])
def test_allocated_registers_from_whichever_count_is_known(known):
    """101 are 104 in granules of 8; for lanes that the architecture has not there is no answer."""
    registers = Registers(**{known: 101})
    assert allocated_vgprs(registers, load("gfx942"), 64) == 104
    assert allocated_vgprs(registers, load("gfx942"), 32) is None
    assert allocated_vgprs(Registers(sgpr=8), load("gfx942"), 64) is None
