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


@pytest.mark.parametrize(
    ("arch", "given_", "message", "hint"),
    [
        ("gfx942", {"wavefront_size": 32}, "gfx942 has no wavefronts of 32 lanes, only of 64", None),
        ("gfx1100", {"wavefront_size": 16}, "gfx1100 has no wavefronts of 16 lanes, only of 32 or 64", None),
        ("gfx942", {"mode": "wgp"}, "gfx942 has no 'wgp' mode, only cu", "It has no workgroup processors."),
        ("gfx1100", {"mode": "fast"}, "gfx1100 has no 'fast' mode, only wgp or cu", None),
        ("gfx942", {"num_warps": 0}, "a workgroup has at least one wavefront, not 0", None),
        ("gfx942", {"lds_bytes": -1}, "LDS cannot be -1 bytes", None),
        ("gfx942", {"vgpr": -1}, "there cannot be -1 VGPRs", None),
        ("gfx942", {"vgpr": 513}, "513 VGPRs: a wavefront on gfx942 can have 512", None),
        ("gfx942", {"agpr": 257}, "257 AGPRs: a wavefront on gfx942 can have 256", None),
        ("gfx1100", {"agpr": 1}, "gfx1100 has no AGPRs", None),
        ("gfx942", {"sgpr": 109}, "109 SGPRs: a wavefront on gfx942 can have 108", None),
        ("gfx942", {"padded_vgpr": 513}, "513 allocated VGPRs: a wavefront on gfx942 can have 512", None),
        ("gfx942", {"padded_sgpr": 113}, "113 allocated SGPRs: a wavefront on gfx942 can have 112", None),
    ],
)
def test_what_is_refused_and_in_which_words(arch, given_, message, hint):
    """The number, what it is of, and what the architecture has."""
    with pytest.raises(KprofError) as caught:
        OccupancyInput(load(arch), **{"vgpr": 8, **given_})
    assert (str(caught.value).partition("\n")[0], caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("arch", "given_"),
    [
        ("gfx942", {"vgpr": 512}),
        ("gfx942", {"vgpr": 256, "agpr": 256}),
        ("gfx942", {"vgpr": 0, "sgpr": 108, "num_warps": 1}),
        ("gfx942", {"vgpr": 8, "padded_vgpr": 512, "padded_sgpr": 112}),
        ("gfx908", {"vgpr": 256, "agpr": 256}),
        ("gfx1100", {"vgpr": 256, "sgpr": 112, "mode": "cu", "wavefront_size": 64}),
    ],
)
def test_the_most_that_there_is_is_not_too_much(arch, given_):
    """Each count at its limit."""
    demand = OccupancyInput(load(arch), **given_)
    assert occupancy(demand).waves_per_simd >= 0


def test_a_wavefront_takes_a_granule_at_least():
    """Even one without registers: 8 of 512 on gfx942, 24 of 1536 on gfx1100."""
    assert OccupancyInput(load("gfx942"), 0).vgpr_allocated == 8
    assert OccupancyInput(load("gfx1100"), 0).vgpr_allocated == 24
    assert OccupancyInput(load("gfx942"), 9).vgpr_allocated == 16
    assert OccupancyInput(load("gfx942"), 9, padded_vgpr=17).vgpr_allocated == 24


@pytest.mark.parametrize(("written", "taken"), [(107, 107), (108, 108), (109, 108), (112, 108)])
def test_scalar_registers_rounded_up_by_hand(written, taken):
    """.sgpr_count in whole granules of 16, where 108 can be used."""
    registers = Registers(vgpr=8, sgpr=written)
    assert from_registers(registers, load("gfx942"), lds_bytes=0, num_warps=1).sgpr == taken


def test_more_scalar_registers_than_the_granule_explains_are_refused():
    """113 is no rounded 108."""
    with pytest.raises(KprofError, match="113 SGPRs"):
        from_registers(Registers(vgpr=8, sgpr=113), load("gfx942"), lds_bytes=0, num_warps=1)


def test_which_count_of_vector_registers_is_taken():
    """The code's own with its AGPRs, else the total of the metadata, else what the descriptor asks for."""
    arch = load("gfx942")

    def taken(**counts):
        demand = from_registers(Registers(**counts), arch, lds_bytes=512, num_warps=2)
        return demand.vgpr, demand.agpr, demand.padded_vgpr, demand.lds_bytes, demand.num_warps, demand.size

    assert taken(vgpr=10, agpr=20, total_vgpr=32, next_free_vgpr=40) == (10, 20, 40, 512, 2, 64)
    assert taken(agpr=20, total_vgpr=32, next_free_vgpr=40) == (32, 0, 40, 512, 2, 64)
    assert taken(total_vgpr=0, next_free_vgpr=40) == (0, 0, 40, 512, 2, 64)
    assert taken(agpr=20, next_free_vgpr=40) == (40, 0, 40, 512, 2, 64)
    with pytest.raises(KprofError, match=r"^the number of VGPRs is not in the input") as caught:
        taken(agpr=20)
    assert caught.value.hint == "It is in .amdhsa_next_free_vgpr."


def test_a_mode_counts_where_there_are_two():
    """What is asked for goes before what the kernel was compiled for; gfx942 has no WGPs to be in."""
    rdna, cdna = load("gfx1100"), load("gfx942")
    registers = Registers(vgpr=8, wgp_mode=True, wavefront_size=64)
    assert from_registers(registers, rdna, lds_bytes=0, num_warps=1, mode="cu").block == "cu"
    assert from_registers(registers, rdna, lds_bytes=0, num_warps=1).size == 64
    assert from_registers(registers, cdna, lds_bytes=0, num_warps=1).block == "cu"


@pytest.mark.parametrize(
    ("arch", "free", "sgpr", "padded"),
    [
        ("gfx942", 40, 46, None),
        ("gfx942", 41, 46, 47),
        ("gfx90a", 40, 40, None),
        ("gfx90a", 44, 40, 48),
        ("gfx90a", 41, 41, None),
        ("gfx942", 40, None, 46),
    ],
)
def test_when_scalar_registers_are_padded(arch, free, sgpr, padded):
    """Six extras are certain on gfx942; on gfx90a there are four with XNACK, so that up to four more tell nothing."""
    registers = Registers(vgpr=8, sgpr=sgpr, next_free_sgpr=free)
    assert from_registers(registers, load(arch), lds_bytes=0, num_warps=1).padded_sgpr == padded
