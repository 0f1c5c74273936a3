"""Real code objects: architecture, kernels, descriptors, metadata."""

from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.hardware.machine import architectures, load
from kprof.inputs import amdgcn, code_object
from kprof.inputs.code_object.reader import architecture, features

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
FILES = sorted(ARTIFACTS.glob("*/*.hsaco"))
IDS = [f"{file.parent.name}/{file.name}" for file in FILES]
# Granules at which occupancy counts VGPRs: the descriptor rounds up to its own, which divides them.
ENCODING = {"gfx908": 4, "gfx942": 8, "gfx950": 8, "gfx1100": 8, "gfx1201": 8, "gfx1250": 16}


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_a_triton_code_object_agrees_with_its_assembly(file: Path) -> None:
    """The object and the assembly of one kernel give the same resources."""
    found = code_object.read_file(file)
    (item,) = found.objects
    (kernel,) = item.kernels
    (written,) = amdgcn.read_file(file.with_suffix(".amdgcn")).kernels
    assert found.container == "elf"
    assert item.arch == file.parent.name
    assert item.notes == ()
    assert kernel.name == written.name
    assert kernel.code_bytes == written.registers.code_bytes
    for name in ("sgpr", "vgpr_spills", "sgpr_spills", "scratch_bytes", "lds_bytes_static", "wavefront_size",
                 "max_workgroup_size", "accum_offset", "wgp_mode", "dynamic_stack"):  # fmt: skip
        assert getattr(kernel.registers, name) == getattr(written.registers, name), name
    granule = ENCODING[item.arch]
    allocated = written.registers.next_free_vgpr
    assert allocated is not None
    assert kernel.descriptor is not None
    assert kernel.descriptor.vgpr == -(-allocated // granule) * granule
    assert kernel.descriptor.kernarg_bytes == written.directives["kernarg_size"]
    assert kernel.descriptor.user_sgprs == written.directives["user_sgpr_count"]
    assert kernel.descriptor.kernarg_preload == written.directives.get("user_sgpr_kernarg_preload_length", 0)


@pytest.mark.parametrize("name", ["twice.clang-19.co", "twice.clang-19.host.o"])
def test_bundles_and_fat_binaries(name: str) -> None:
    """Every GPU's object in one file is found; the host's part is left out."""
    found = code_object.read_file(ARTIFACTS / name)
    assert found.container == ("bundle" if name.endswith(".co") else "fat binary")
    assert sorted(item.arch for item in found.objects) == ["gfx1100", "gfx942"]
    assert [kernel.name for kernel in found.kernels] == ["twice", "twice"]
    (object_,) = (item for item in found.objects if item.arch == "gfx942")
    assert object_.bundle_id == "hipv4-amdgcn-amd-amdhsa--gfx942"


@pytest.mark.parametrize("name", architectures())
def test_an_architecture_of_the_tables_is_known_by_its_own_number(name: str) -> None:
    """The number stands in its file only."""
    assert architecture(load(name).llvm.elf_machine) == name


def test_flags() -> None:
    """``e_flags`` of known files, and the four states of features."""
    assert architecture(0x54C) == "gfx942"
    assert architecture(0x54F) == "gfx950"
    assert architecture(0x0FF) == ""
    assert features(0x54C, 3) == {}
    assert features(0x24C | 0xC00, 2) == {"xnack": False, "sramecc": True}
    assert features(0x13F, 1) == {"xnack": True, "sramecc": False}


@pytest.mark.llvm
def test_flags_against_the_assembler(llvm_mc: str, tmp_path: Path) -> None:
    """llvm-mc's objects for each architecture are recognised."""
    import subprocess

    numbers = "803 900 906 908 90a 942 1010 1030 1036 1100 1101 1102 1103 1150 1151 1200 1201 11-generic"
    for arch in (f"gfx{number}" for number in numbers.split()):
        target = tmp_path / f"{arch}.o"
        command = [llvm_mc, "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-filetype=obj", "-o", str(target)]
        subprocess.run(command, input=b"s_nop 0\n", check=True)
        (item,) = code_object.read_file(target).objects
        assert item.arch == arch
        assert item.kernels == ()
        assert item.notes == ("there is no metadata note",)


@pytest.mark.llvm
@pytest.mark.parametrize(
    ("arch", "wave32"),
    [(arch, 0) for arch in ("gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1201")]
    + [(arch, 1) for arch in ("gfx1030", "gfx1100", "gfx1201")],
)
def test_descriptors_against_the_assembler(arch: str, wave32: int, llvm_mc: str, tmp_path: Path) -> None:
    """Counts in ``.amdhsa_*`` directives come back from the descriptor, rounded up to the documented granule."""
    import subprocess

    gfx9 = arch.startswith("gfx9")
    unified = arch in {"gfx90a", "gfx942"}
    for vgpr, sgpr, lds, scratch in (
        (1, 1, 0, 0),
        (24, 16, 512, 64),
        (65, 40, 65536, 16),
        (128, 96, 1, 4),
        (253, 100, 7, 0),
    ):
        lines = [
            'k:\ns_endpgm\n.section .rodata,"a"\n.p2align 6\n.amdhsa_kernel k',
            f".amdhsa_next_free_vgpr {vgpr}\n.amdhsa_next_free_sgpr {sgpr}",
            f".amdhsa_group_segment_fixed_size {lds}\n.amdhsa_private_segment_fixed_size {scratch}",
            ".amdhsa_reserve_vcc 0",
        ]
        lines += [".amdhsa_reserve_flat_scratch 0"] if gfx9 and arch != "gfx942" else []
        lines += [f".amdhsa_accum_offset {-(-vgpr // 4) * 4}", ".amdhsa_tg_split 1"] if unified else []
        lines += [] if gfx9 else [f".amdhsa_wavefront_size32 {wave32}", ".amdhsa_workgroup_processor_mode 0"]
        target = tmp_path / "a.o"
        command = [llvm_mc, "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-filetype=obj", "-o", str(target)]
        subprocess.run(command, input="\n".join([*lines, ".end_amdhsa_kernel\n"]), text=True, check=True)
        (kernel,) = code_object.read_file(target).kernels
        found = kernel.descriptor
        assert found is not None
        granule = 4 if arch == "gfx908" or not (gfx9 or wave32) else 8
        assert found.vgpr == -(-vgpr // granule) * granule
        extra = 6 if arch == "gfx942" else 4 if gfx9 else 0  # XNACK is on by default where it exists
        assert found.sgpr == (-(-(sgpr + extra) // 16) * 16 if gfx9 else None)
        assert (found.lds_bytes, found.scratch_bytes) == (lds, scratch)
        assert found.wavefront_size == (64 if gfx9 or not wave32 else 32)
        assert found.accum_offset == (-(-vgpr // 4) * 4 if unified else None)
        assert found.tg_split is (True if unified else None)
        assert found.wgp_mode is (None if gfx9 else False)


@pytest.mark.llvm
@pytest.mark.parametrize("arch", ["gfx908", "gfx942", "gfx1100"])
def test_disassembly(arch: str, llvm_objdump: str) -> None:
    """Where llvm-objdump is installed, the object gives the instructions of the text, with its resources."""
    file = ARTIFACTS / arch / "matmul.triton-3.9.0.hsaco"
    (item,) = code_object.read_file(file).objects
    read = code_object.disassemble(item, tool=llvm_objdump, path=str(file)).kernel("matmul")
    written = amdgcn.read_file(file.with_suffix(".amdgcn")).kernel("matmul")
    mine = [i.opcode.cls for i in read.instructions if i.opcode.name != "s_nop"]
    theirs = [i.opcode.cls for i in written.instructions if i.opcode.name != "s_nop"]
    assert read.registers.sgpr == written.registers.sgpr
    assert len(read.loops) == len(written.loops)
    if arch != "gfx1100":  # an LLVM older than 22 misreads some of this compiler's gfx11 encodings
        assert mine == theirs


def test_disassembly_without_a_tool() -> None:
    """A tool that does not exist is one clear message."""
    (item,) = code_object.read_file(FILES[0]).objects
    with pytest.raises(KprofError, match="cannot be run"):
        code_object.disassemble(item, tool="/nowhere/llvm-objdump")
