"""Whole files: targets, kernels, functions, resources, register use."""

from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.inputs import amdgcn
from kprof.inputs.amdgcn import AssemblyKernel, InstructionClass, InstructionKind

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
FILES = sorted([*ARTIFACTS.glob("*/*.amdgcn"), *ARTIFACTS.glob("*/*.s")])
IDS = [f"{file.parent.name}/{file.name}" for file in FILES]


def highest(kernel: AssemblyKernel, letter: str) -> int:
    """One more than the highest register number of a kind that the kernel names."""
    names = {name for item in kernel.instructions for name in item.effects.reads | item.effects.writes}
    return max((int(name[1:]) + 1 for name in names if name[0] == letter and name[1:].isdigit()), default=0)


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_every_fixture_is_read_completely(file: Path) -> None:
    """Architecture as the folder says, full coverage, no note, kernels that end."""
    assembly = amdgcn.read_file(file, strict=True)
    assert assembly.arch == file.parent.name
    assert assembly.kernels
    assert assembly.coverage == 1.0
    assert assembly.notes == ()
    assert not assembly.truncated
    for kernel in assembly.kernels:
        assert kernel.complete
        assert kernel.instructions[-1].opcode.kind in {
            InstructionKind.END,
            InstructionKind.JUMP,
            InstructionKind.INDIRECT,
            InstructionKind.CONDITIONAL,
        }
        assert kernel.registers.wavefront_size == (64 if assembly.arch.startswith("gfx9") else 32)


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_registers_named_are_those_that_llvm_counted(file: Path) -> None:
    """LLVM's count of VGPRs and AGPRs is one more than the highest number that the effects of instructions name."""
    for kernel in amdgcn.read_file(file).kernels:
        if any(item.opcode.kind is InstructionKind.CALL for item in kernel.instructions):
            continue  # LLVM adds what the called function uses
        assert highest(kernel, "v") == kernel.registers.vgpr
        assert highest(kernel, "a") == (kernel.registers.agpr or 0)


@pytest.mark.parametrize("file", [f for f in FILES if "triton" in f.name], ids=[i for i in IDS if "triton" in i])
def test_triton_instructions_know_their_line(file: Path) -> None:
    """Most instructions of a Triton kernel lead to the user's file, none to Triton's library."""
    (kernel,) = amdgcn.read_file(file).kernels
    frames = [item.user_frame for item in kernel.instructions]
    known = [frame for frame in frames if frame is not None]
    assert len(known) > 0.6 * len(frames)
    assert {frame.file for frame in known} == {"/home/user/corpus/small.py"}
    assert all(0 < frame.line < 30 for frame in known)


def test_old_and_new_target_strings() -> None:
    """The architecture and features of both spellings."""
    assert amdgcn.split_target("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-") == (
        "gfx942",
        {"sramecc": True, "xnack": False},
    )
    assert amdgcn.split_target("amdgpu9.42-amd-amdhsa-unknown-gfx942") == ("gfx942", {})
    assert amdgcn.split_target("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+") == ("gfx90a", {"xnack": True})
    assert amdgcn.split_target("amdgcn-amd-amdhsa--gfx11-generic")[0] == "gfx11-generic"
    assert amdgcn.split_target("x86_64-unknown-linux-gnu") == ("", {})


def test_resources_of_a_triton_kernel() -> None:
    """Figures of one file, as its directives, metadata and comments give them."""
    assembly = amdgcn.read_file(ARTIFACTS / "gfx942" / "matmul.triton-3.9.0.amdgcn")
    kernel = assembly.kernel("matmul")
    assert assembly.source == "triton"
    assert assembly.target == "amdgpu9.42-amd-amdhsa-unknown-gfx942"
    assert kernel.registers.next_free_vgpr == kernel.directives["next_free_vgpr"]
    assert kernel.registers.vgpr == kernel.comments["NumVgprs"]
    assert kernel.registers.occupancy == kernel.comments["Occupancy"]
    assert kernel.registers.sgpr == kernel.metadata[".sgpr_count"]
    assert kernel.registers.max_workgroup_size == 256
    assert kernel.registers.lds_bytes_static == 0
    assert kernel.registers.vgpr_spills == 0
    assert len(kernel.loops) == 1
    loop = kernel.loops[0]
    assert any(kernel.instructions[i].opcode.cls is InstructionClass.MATRIX for i in loop.instructions)
    assert 0 not in loop.instructions


def test_several_kernels_and_functions() -> None:
    """A file with six kernels and a device function that is no kernel."""
    assembly = amdgcn.read_file(ARTIFACTS / "gfx908" / "kernels.clang-19.s")
    assert [kernel.name for kernel in assembly.kernels] == [
        "transpose", "steps", "private_array", "doubles", "counts", "halves",
    ]  # fmt: skip
    assert [function.name for function in assembly.functions] == ["collatz"]
    assert assembly.source == "clang"
    assert assembly.kernel("transpose").registers.lds_bytes_static == 32 * 33 * 4
    assert assembly.kernel("private_array").registers.scratch_bytes == 272
    assert not assembly.functions[0].is_kernel
    assert assembly.functions[0].instructions[-1].opcode.name == "s_setpc_b64"
    assert all(item.index == n for n, item in enumerate(assembly.kernel("counts").instructions))


def test_resources_behind_symbols() -> None:
    """Newer LLVM gives counts of a kernel with calls as expressions over symbols."""
    assembly = amdgcn.read_file(ARTIFACTS / "gfx942" / "hip_kernels.llvm-22.s")
    registers = assembly.kernel("reduce").registers
    assert registers.vgpr == 9
    assert registers.agpr == 0
    assert registers.lds_bytes_static == 1024


def test_kernel_names_are_found_or_suggested() -> None:
    """A wrong name gives near matches; no name is fine only when there is one kernel."""
    assembly = amdgcn.read_file(ARTIFACTS / "gfx908" / "kernels.clang-19.s")
    with pytest.raises(KprofError, match="transpose"):
        assembly.kernel("transpos")
    with pytest.raises(KprofError, match="6 kernels"):
        assembly.kernel()


def test_hand_written_source() -> None:
    """Labels before instructions, C comments, assignments, upper and lower case, no metadata."""
    text = """
        .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
        .text
        my_size = 4 /* an
        assignment */
        .amdhsa_kernel hello
          .amdhsa_next_free_vgpr 3+my_size // comment
          .amdhsa_next_free_sgpr 16
          .amdhsa_accum_offset 4
        .end_amdhsa_kernel
        hello: s_load_dwordx2 s[0:1], s[4:5], 0x0
        loop:
          S_ADD_U32 s0, s0, 1 // count
          s_cbranch_scc0 loop ; again
        s_endpgm
    """
    assembly = amdgcn.parse(text)
    kernel = assembly.kernel("hello")
    assert [item.opcode.name for item in kernel.instructions] == [
        "s_load_dwordx2", "s_add_u32", "s_cbranch_scc0", "s_endpgm",
    ]  # fmt: skip
    assert kernel.registers.next_free_vgpr == 7
    assert [loop.header for loop in kernel.loops] == ["loop"]
    assert kernel.instructions[1].line == 13
    assert kernel.instructions[1].operands == ("s0", "s0", "1")


def test_spills_are_told_by_the_compilers_comment() -> None:
    """Folded spills and reloads are marked."""
    text = (
        '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\t.type k,@function\nk:\n'
        "\tscratch_store_dwordx4 off, v[0:3], off offset:16 ; 16-byte Folded Spill\n"
        "\tscratch_load_dword v0, off, off offset:16 ; 4-byte Folded Reload\n\ts_endpgm\n"
    )
    assembly = amdgcn.parse(text)
    instructions = (assembly.kernels or assembly.functions)[0].instructions
    assert [item.spill for item in instructions] == ["store", "reload", None]
    assert instructions[0].opcode.cls is InstructionClass.SCRATCH


@pytest.mark.parametrize("name", ["gfx942/matmul.triton-3.6.0.amdgcn", "gfx908/matmul.triton-3.9.0.amdgcn",
                                  "gfx1100/matmul.triton-3.9.0.amdgcn"])  # fmt: skip
def test_metadata_stands_in_for_comments(name: str) -> None:
    """Without LLVM's comments and symbols the counts come from the metadata, rounded where that is all there is."""
    text = (ARTIFACTS / name).read_text()
    bare = "\n".join(line for line in text.split("\n") if not line.startswith(("; ", "\t.set ")))
    (whole,) = amdgcn.parse(text).kernels
    (kernel,) = amdgcn.parse(bare).kernels
    assert kernel.comments == {}
    assert whole.registers.vgpr is not None
    assert kernel.registers.vgpr is not None
    slack = 3 if whole.registers.agpr and kernel.arch == "gfx942" else 0
    assert 0 <= kernel.registers.vgpr - whole.registers.vgpr <= slack
    assert kernel.registers.sgpr == whole.registers.sgpr
    assert kernel.registers.next_free_vgpr == whole.registers.next_free_vgpr
    assert kernel.registers.occupancy is None


def test_targets_of_branches() -> None:
    """Labels are given, registers are not."""
    assembly = amdgcn.read_file(ARTIFACTS / "gfx908" / "kernels.clang-19.s")
    targets = {
        i.opcode.name: i.target
        for i in assembly.kernel("steps").instructions
        if i.target or i.opcode.kind is InstructionKind.CALL
    }
    assert targets["s_swappc_b64"] is None
    loops = assembly.kernel("private_array")
    assert all(i.target in loops.labels for i in loops.instructions if i.opcode.kind is InstructionKind.CONDITIONAL)


def test_zero_bytes_are_blanks() -> None:
    """As LLVM's assembler has it."""
    kernel = amdgcn.parse(
        '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\nk:\n\tv_mov_b32\0\0v1,\0v2\0\n\ts_endpgm\n'
    ).functions[0]
    assert [(i.mnemonic, i.operands) for i in kernel.instructions] == [("v_mov_b32", ("v1", "v2")), ("s_endpgm", ())]
