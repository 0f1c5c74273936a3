"""Rules on real compiles that neither the A/B tests nor the collection show: each fires on one, not on its twin."""

import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kprof.analysis import KernelFacts
from kprof.findings import Location
from kprof.hardware.machine import find_product
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.pipeline import facts_of
from kprof_analyzers.rules import rules

HERE = Path(__file__).parent
FILE = HERE / "ab_kernels" / "attention.py"
STRIDED = HERE / "ab_kernels" / "strided.py"
ATTENTION = CompileOptions(
    arch=("gfx942",),
    signature="*fp16:16,*fp16:16,*fp16:16,*fp16:16,i32,i32:16",
    constexpr={"D": 64, "BLOCK_M": 64, "BLOCK_N": 32, "HEADS_FIRST": True, "BASE_2": True},
    config={"num_warps": 4, "num_stages": 1},
)
PACKED = CompileOptions(
    arch=("gfx942",),
    signature="*fp16:16,*i32:16,*fp32:16,i32:16,i32:16",
    constexpr={"M": 32, "D": 128, "BLOCK_N": 64, "TWICE": True},
    config={"num_warps": 4, "num_stages": 1},
)


READS = CompileOptions(
    arch=("gfx942",),
    signature="*fp16:16,*fp32:16,i32:16,i32:16,i32:16",
    constexpr={"ROWS": 64, "COLUMNS": 64, "FORM": "rows"},
    config={"num_warps": 4},
)


@cache
def _facts(function: str, key: str) -> KernelFacts:
    (kernel,) = load(f"{STRIDED if function == 'reads' else FILE}::{function}", _OPTIONS[key])
    return facts_of(kernel)[0]


_OPTIONS: dict[str, CompileOptions] = {}


def facts(function, options, **constexprs):
    """One compile, made once."""
    changed = replace(options, constexpr={**options.constexpr, **constexprs})
    _OPTIONS[repr(changed)] = changed
    return _facts(function, repr(changed))


def lines(rule, known):
    """Where a rule fires."""
    (found,) = (r for r in rules() if r.id == rule)
    places = (finding.location for finding in found.analyze(known).findings)
    return {place.line if isinstance(place, Location) else None for place in places}


def line_of(mark):
    """The line of the kernel file that ends in a comment."""
    return next(n for n, text in enumerate(FILE.read_text().splitlines(), 1) if text.endswith(f"# {mark}"))


@pytest.mark.triton
@pytest.mark.parametrize("form", ["unknown", "complex", "channels", "band", "columns", "rows"])
def test_tiles_with_gaps(form):
    """KP103: no axis is contiguous, and the loads are narrow for that reason alone; along either axis is fine."""
    known = facts("reads", READS, FORM=form)
    fires = form not in {"columns", "rows"}
    assert bool(lines("KP103", known)) == fires
    assert not lines("KP101", known)
    loads = (i.opcode for i in known.program.instructions if i.opcode.is_load and i.opcode.cls.value == "vmem")
    widths = {opcode.bytes_per_lane for opcode in loads}
    assert widths == ({2} if fires else {16})


@pytest.mark.triton
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_natural_exponentials(arch):
    """KP506: ``exp`` of a tile in the loop, not ``exp2``."""
    options = replace(ATTENTION, arch=(arch,))
    assert lines("KP506", facts("attention", options, BASE_2=False)) == {line_of("natural")}
    assert not lines("KP506", facts("attention", options))


@pytest.mark.triton
@pytest.mark.parametrize(("queries", "fires"), [(5, True), (32, True), (40, False), (64, False), (1000, False)])
def test_padded_tiles(queries, fires):
    """KP505: at most half of the 64 rows are used."""
    known = replace(facts("attention", ATTENTION), arguments={"M": queries, "N": 4096})
    assert lines("KP505", known) == ({line_of("rows")} if fires else set())


@pytest.mark.triton
@pytest.mark.parametrize(
    ("heads_first", "grid", "fires"),
    [(True, (32, 64), False), (False, (64, 32), True), (True, (12, 64), True), (False, (1, 64), False)],
)
def test_orders_of_the_grid(heads_first, grid, fires):
    """KP406: blocks of a head read the same keys; with heads first, a multiple of 8 of them, they meet on a die.

    A single block a head shares nothing.
    """
    known = replace(facts("attention", ATTENTION, HEADS_FIRST=heads_first), grid=(*grid, 1))
    assert bool(lines("KP406", replace(known, product=find_product("MI300X")))) == fires
    assert not lines("KP406", replace(known, product=find_product("MI250X")))


@pytest.mark.triton
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_unpacking_between_two_passes_through_lds(arch):
    """KP602, the example of AMD's guide: words are turned round in LDS, unpacked, and go to LDS again.

    Not where each value's word is loaded in the operand's order. The assembly agrees: writes on one line or on two.
    """
    options = replace(PACKED, arch=(arch,))
    twice, once = facts("packed", options), facts("packed", options, TWICE=False)
    assert lines("KP602", twice) == {line_of("second")}
    assert not lines("KP602", once)
    assert lds_writes(twice) == {line_of("first"), line_of("second")}
    assert len(lds_writes(once)) <= 1


FP32 = {"M": 4096, "N": 4096, "K": 4096, "dtype": "fp32", "out": "fp32"}
RAGGED = {"M": 4000, "N": 4112, "K": 4016, "dtype": "bf16", "out": "bf16", "bias": True}
ALONE = {
    "a lane's share of 4 bytes": ("KP101", "mla_decode", "gfx950", {}),
    "scales": ("KP101", "flash_decoding_int4", "gfx942", {"B": 4, "H": 32, "HK": 1, "N": 16384, "D": 128}),
    "a bias of 256 bytes": ("KP103", "gemm_streamk", "gfx942", RAGGED),
    "4 bytes a lane by nature": ("KP111", "gemm", "gfx942", FP32),
    "stored as narrow as loaded": ("KP111", "gemm", "gfx942", {"K": 4001}),
}


@pytest.mark.triton
@pytest.mark.parametrize("name", ALONE)
def test_what_could_not_be_better_is_left_alone(name):
    """Firings on kernels of the collection that were looked at and found false."""
    rule, target, arch, shape = ALONE[name]
    launches = load(target, CompileOptions(arch=(arch,), shape=shape))
    assert not any(lines(rule, facts_of(launch)[0]) for launch in launches)


def lds_writes(known):
    """Lines of the loop that store to LDS."""
    members = (known.program.instructions[i] for loop in known.program.loops for i in loop.instructions)
    return {i.user_frame.line for i in members if i.opcode.cls.value == "lds" and i.opcode.is_store}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compile an OpenCL file with clang."""
    clang = shutil.which("clang-19") or shutil.which("clang")
    if clang is None:
        pytest.skip("clang is not installed")
    folder = tmp_path_factory.mktemp("clang")

    def compile_(name, arch):
        out = folder / f"{name}.{arch}.s"
        options = f"-x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu={arch} -nogpulib -O2 -g -S".split()
        subprocess.run([clang, *options, str(HERE / "clang" / f"{name}.cl"), "-o", str(out)], check=True)
        return {kernel.name: facts_of(kernel)[0] for kernel in load(str(out), CompileOptions())}

    return compile_


@pytest.mark.llvm
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1100"])
def test_arrays_in_scratch(arch, compiled):
    """KP305: an index that is known at run time only; through buffer instructions on gfx90a."""
    kernels = compiled("arrays", arch)
    fired = {name for name, known in kernels.items() if lines("KP305", known)}
    assert fired == {"histogram", "lookup"}
    assert set(kernels) == fired | {"unrolled"}


@pytest.mark.llvm
def test_conversions_one_by_one(compiled):
    """KP507: sixteen single conversions in an iteration; Triton and clang's own vectors convert pairs."""
    kernels = compiled("conversions", "gfx942")
    assert {name for name, known in kernels.items() if lines("KP507", known)} == {"single"}
    assert set(kernels) == {"single", "pairs"}
