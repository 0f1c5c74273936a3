"""The LLVM method against what compilers print."""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.hardware.machine import load
from kprof.inputs.amdgcn import parse
from kprof_analyzers.occupancy import OccupancyInput, occupancy
from kprof_analyzers.occupancy.llvm import LlvmDemand, by_sgprs, by_vgprs, limits
from tests.analyzers.occupancy.common import oracle, script

CLANG = next((tool for tool in ("clang-19", "clang-18", "clang-20", "clang") if shutil.which(tool)), None)
SAMPLES = 14
RECORD = Path(__file__).resolve().parents[2] / "artifacts/occupancy/llvm.csv"


@pytest.mark.triton
def test_agrees_with_the_installed_triton_on_every_architecture():
    """Hundreds of kernels through Triton's code generator: no difference that is not explained."""
    check = script("check_occupancy_against_llvm")
    tally = check.check(sys.executable, list(oracle().MACHINES), SAMPLES, 11, triton_kernels=False)

    assert tally.unexplained == []
    assert tally.failed == []
    assert tally.done["kernels"] >= 13 * SAMPLES
    assert tally.done["whole"] > 10 * tally.done["kernels"]
    assert all("gfx908" in line for line in tally.explained)


@pytest.mark.triton
@pytest.mark.slow
def test_agrees_on_kernels_written_in_triton():
    """The same for kernels that come the whole way from Triton's language, with waves_per_eu."""
    check = script("check_occupancy_against_llvm")
    tally = check.check(sys.executable, ["gfx942"], 0, 0, triton_kernels=True)

    assert (tally.unexplained, tally.explained, tally.failed) == ([], [], [])
    assert tally.done["kernels"] == len(check.TRITON_CONFIGS)


def test_a_wrong_table_would_be_noticed(monkeypatch):
    """The comparison is alive: with another granule in kprof's table it finds differences."""
    check = script("check_occupancy_against_llvm")
    tally = check.Tally(24, "3.9.0")
    text = "; NumVgprs: 161\n; NumAgprs: 0\n; TotalNumVgprs: 161\n; TotalNumSgprs: 16\n"
    text += "; NumSGPRsForWavesPerEU: 16\n; NumVGPRsForWavesPerEU: 161\n; Occupancy: 3\n"
    kernel = (
        '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\t.text\n\t.globl k\n\t.type k,@function\nk:\n\ts_endpgm\n'
        "\t.section .rodata\n\t.amdhsa_kernel k\n\t\t.amdhsa_next_free_vgpr 161\n\t\t.amdhsa_next_free_sgpr 10\n"
        "\t.end_amdhsa_kernel\n\t.text\n.Lend:\n\t.size k, .Lend-k\n\t.section .AMDGPU.csdata\n; Kernel info:\n"
    )
    sample = oracle().Sample("gfx942", 161, 0, 10, 0, (1, 64), 64, cu_mode=False, waves_per_eu=0)
    check.compare(tally, {"arch": "gfx942"}, sample, {"asm": kernel + text})
    assert tally.unexplained == []

    check.compare(tally, {"arch": "gfx942"}, sample, {"asm": kernel + text.replace("Occupancy: 3", "Occupancy: 2")})
    assert len(tally.unexplained) == 1


@pytest.mark.llvm
@pytest.mark.parametrize("name", ["gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1102", "gfx1201"])
def test_register_part_agrees_with_clang(name):
    """An LLVM of another make and age: the register part of its occupancy, for workgroups of one wavefront."""
    if CLANG is None:
        pytest.skip("clang is not installed")
    arch = load(name)
    for sample in oracle().samples(name, 12, 7):
        lone = oracle().Sample(
            name, sample.vgpr, sample.agpr, sample.sgpr, 0, (1, sample.wavefront), sample.wavefront, sample.cu_mode, 0
        )
        command = [
            CLANG,
            "-x",
            "ir",
            "-",
            "-S",
            "-o",
            "-",
            "-target",
            "amdgcn-amd-amdhsa",
            f"-mcpu={name}",
            "-O1",
            "-nogpulib",
        ]
        ran = subprocess.run(command, input=lone.ir(), capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr[:500]
        said = parse(ran.stdout).kernels[0].comments
        registers = int(said["NumVGPRsForWavesPerEU"]), int(said["NumSGPRsForWavesPerEU"])
        demand = LlvmDemand(*registers, 0, lone.sizes, lone.wavefront, lone.cu_mode)
        assert min(limits(arch, demand, llvm=19).values()) == int(said["Occupancy"]), lone


@pytest.mark.parametrize(
    ("sgprs", "old", "new"), [(80, 8, 8), (87, 8, 7), (88, 8, 7), (96, 8, 7), (97, 8, 6), (102, 7, 6)]
)
def test_scalar_registers_changed_meaning_with_llvm_24(sgprs, old, new):
    """The same kernel prints another occupancy in Triton 3.9 than before."""
    arch = load("gfx942")
    assert (by_sgprs(arch, sgprs, 23), by_sgprs(arch, sgprs, 24)) == (old, new)


def test_too_many_registers_still_count_as_one():
    """LLVM never says less than 1, and fewer registers than a granule mean no limit."""
    arch = load("gfx942")
    assert by_vgprs(arch, 600, 64) == 1
    assert by_vgprs(arch, 7, 64) == 8
    assert occupancy(OccupancyInput(arch, 16, lds_bytes=65537), "llvm").waves_per_simd == 1


def test_lds_is_rounded_from_llvm_24_on():
    """21505 bytes are three workgroups raw and two in granules: 16 or 8 wavefronts for one of four."""
    arch = load("gfx942")
    demand = OccupancyInput(arch, 16, lds_bytes=21840, num_warps=4)
    assert occupancy(demand, "llvm", 23).waves_per_simd == 3
    assert occupancy(demand, "llvm", 24).waves_per_simd == 2


def test_the_answer_says_which_method_it_is():
    """So that a document cannot mix them up."""
    found = occupancy(OccupancyInput(load("gfx942"), 168), "llvm")
    assert (found.method, found.waves_per_simd, found.limiter) == ("llvm", 3, "vgpr")


def recorded():
    """What two LLVMs printed of a thousand kernels: arch, LLVM, what it follows from, and the number."""
    with RECORD.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            arch = row.pop("arch")
            llvm, vgprs, sgprs, lds, low, high, lanes, cu_mode, printed = map(int, row.values())
            yield arch, llvm, LlvmDemand(vgprs, sgprs, lds, (low, high), lanes, bool(cu_mode)), printed


def test_agrees_with_what_llvm_printed():
    """Without a compiler: two versions, all architectures, registers at their boundaries, sizes, LDS and modes."""
    rows = list(recorded())
    assert len(rows) > 1000
    assert {llvm for _, llvm, _, _ in rows} == {21, 24}
    assert {(demand.cu_mode, bool(demand.lds_bytes)) for _, _, demand, _ in rows} == {
        (mode, lds) for mode in (True, False) for lds in (True, False)
    }
    for arch, llvm, demand, printed in rows:
        found = limits(load(arch), demand, llvm)
        assert min(found.values()) == printed, (arch, llvm, demand, found)
        assert ("lds" in found) == (demand.lds_bytes > 0)


@pytest.mark.parametrize(
    ("sgprs", "waves"), [(0, 10), (80, 10), (81, 9), (88, 9), (89, 8), (100, 8), (101, 7), (102, 7), (104, 7)]
)
def test_the_old_table_of_scalar_registers(sgprs, waves):
    """LLVM's getOccupancyWithNumSGPRs on gfx8 and gfx9, at each step and one beyond."""
    assert by_sgprs(load("gfx908"), sgprs, 23) == waves


def test_scalar_registers_never_limit_from_gfx10_on():
    """Every wavefront has all of them: the answer is that of the slots."""
    assert by_sgprs(load("gfx1100"), 106, 24) == by_sgprs(load("gfx1100"), 106, 21) == 16


@pytest.mark.parametrize(
    ("arch", "given_", "waves", "limiter", "workgroups"),
    [
        ("gfx942", {"vgpr": 64}, 8, "wave_slots", 8),
        ("gfx942", {"vgpr": 65}, 7, "vgpr", 7),
        ("gfx942", {"vgpr": 16, "padded_vgpr": 169}, 2, "vgpr", 2),
        ("gfx942", {"vgpr": 16, "sgpr": 97}, 6, "sgpr", 6),
        ("gfx942", {"vgpr": 16, "sgpr": 10, "padded_sgpr": 97}, 6, "sgpr", 6),
        ("gfx942", {"vgpr": 16, "lds_bytes": 16385}, 3, "lds", 3),
        ("gfx942", {"vgpr": 64, "num_warps": 8}, 8, "wave_slots", 4),
        ("gfx942", {"vgpr": 65, "num_warps": 2}, 7, "vgpr", 14),
        ("gfx1100", {"vgpr": 192, "num_warps": 4}, 8, "vgpr", 8),
        ("gfx1100", {"vgpr": 192, "num_warps": 4, "mode": "cu"}, 8, "vgpr", 4),
        ("gfx1100", {"vgpr": 16, "lds_bytes": 40960}, 3, "lds", 3),
        ("gfx1100", {"vgpr": 16, "lds_bytes": 40960, "mode": "cu"}, 2, "lds", 1),
    ],
)
def test_limiter_and_workgroups_by_hand(arch, given_, waves, limiter, workgroups):
    """The tables again, with padding, in both modes; workgroups are those of a CU, or of a WGP in WGP mode."""
    found = occupancy(OccupancyInput(load(arch), **given_), "llvm")
    assert (found.waves_per_simd, found.limiter, found.workgroups_per_cu) == (waves, limiter, workgroups)
    assert found.max_waves_per_simd == load(arch).occupancy.max_waves_per_simd
    assert found.limits[limiter] == waves if limiter != "wave_slots" else min(found.limits.values()) == waves


def test_slots_of_workgroups_count_at_the_best_size():
    """192 work-items are three wavefronts: 13 workgroups fill 39 of gfx908's 40 slots, which is all ten of a SIMD."""
    arch = load("gfx908")
    assert limits(arch, LlvmDemand(8, 8, 0, (192, 192), 64))["workgroup_slots"] == 10
    assert limits(arch, LlvmDemand(8, 8, 0, (128, 128), 64))["workgroup_slots"] == 8
    # 16 workgroups of two wavefronts leave eight slots free; with up to 192 work-items half of them may have three.
    assert limits(arch, LlvmDemand(8, 8, 0, (128, 192), 64))["workgroup_slots"] == 10


def test_the_default_is_wgp_mode():
    """8 wavefronts in 40 KiB: a WGP holds three such workgroups on four SIMDs, a CU one on two."""
    arch = load("gfx1100")
    assert limits(arch, LlvmDemand(8, 8, 40960, (256, 256), 32))["lds"] == 6
    assert limits(arch, LlvmDemand(8, 8, 40960, (256, 256), 32, cu_mode=True))["lds"] == 4
