"""Disassembly by LLVM's library, compared with the text that the compiler wrote."""

import ctypes
import itertools
import random
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.errors import InputError
from kprof.inputs import amdgcn, code_object
from kprof.inputs.code_object import disassembly, llvm_library
from kprof.inputs.code_object.llvm_library import stub_library

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
PAIRS = sorted(f for f in ARTIFACTS.glob("gfx*/*.hsaco") if f.with_suffix(".amdgcn").exists())


@pytest.fixture
def library() -> Path:
    """LLVM's library."""
    found = llvm_library.find_library()
    if found is None:
        pytest.skip(f"{llvm_library.PACKAGE} is not installed")
    return found


@pytest.mark.parametrize("file", PAIRS, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_the_object_gives_what_the_compiler_wrote(file: Path, library: Path) -> None:
    """The same mnemonics in the same order, the same loops, and nothing unknown, on every architecture."""
    (item,) = code_object.read_file(file).objects
    assert ".long" not in llvm_library.listing(item, library).split("s_endpgm")[0]
    read, written = code_object.disassemble(item), amdgcn.read_file(file.with_suffix(".amdgcn"))
    for kernel in written.kernels:
        mine = read.kernel(kernel.name)
        names = [[i.opcode.name for i in k.instructions if i.opcode.name != "s_nop"] for k in (mine, kernel)]
        assert names[0] == names[1]
        assert [len(loop.blocks) > 0 for loop in mine.loops] == [len(loop.blocks) > 0 for loop in kernel.loops]


def test_enough_pairs_are_compared() -> None:
    """Six architectures."""
    assert len({file.parent.name for file in PAIRS}) >= 6


@pytest.mark.parametrize("seed", range(4))
def test_no_bytes_are_lost_whatever_they_are(seed: int, library: Path) -> None:
    """Random words, and code cut inside a literal: every byte belongs to one instruction or to an unknown word."""
    source = random.Random(seed)
    (item,) = code_object.read_file(PAIRS[seed]).objects
    code = source.randbytes(256) if seed % 2 else item.data[0x600 : 0x600 + 4 * source.randrange(20, 60)]
    found = llvm_library.decode(code, item.arch, library)
    places = [(one.offset, one.length) for one in found]
    assert places[0][0] == 0
    assert all(at + length == following for (at, length), (following, _) in itertools.pairwise(places))
    assert sum(places[-1]) == len(code) - len(code) % 4


def test_an_unknown_processor_is_one_message(library: Path) -> None:
    """LLVM ends its process for one; not ours."""
    with pytest.raises(InputError, match="LLVM's library"):
        llvm_library.decode(bytes(8), "gfx9999", library)


def test_a_library_that_cannot_be_loaded_is_one_message(tmp_path: Path) -> None:
    """The reason comes from the loader."""
    broken = tmp_path / "libLLVM.so"
    broken.write_bytes(b"no library")
    with pytest.raises(InputError, match="cannot be used"):
        llvm_library.decode(bytes(8), "gfx942", broken)


def test_it_is_found_without_being_imported(library: Path) -> None:
    """Importing it would load what it binds."""
    code = "from kprof.inputs.code_object.llvm_library import find_library; find_library()"
    code += "; import sys; print('rocm' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
    assert library.is_file()


@pytest.mark.skipif(sys.platform != "linux", reason="an ELF library")
def test_a_stub_is_a_library_of_its_name(tmp_path: Path) -> None:
    """The system's loader takes it, and it holds nothing."""
    path = tmp_path / "libnothing.so.1"
    path.write_bytes(stub_library("libnothing.so.1"))
    stub = ctypes.CDLL(str(path))
    assert not hasattr(stub, "anything")
    assert b"libnothing.so.1\0" in path.read_bytes()


@pytest.mark.parametrize(
    ("version", "said"), [(21, "misreads gfx1100: version 22 is needed"), (None, "of unknown version")]
)
def test_a_tool_that_is_too_old_is_not_asked(version: int | None, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says would be wrong without a word."""
    monkeypatch.setattr(disassembly, "find_library", lambda: None)
    monkeypatch.setattr(disassembly, "_objdumps", lambda: ("/nowhere/llvm-objdump",))
    monkeypatch.setattr(disassembly, "_version", lambda _tool: version)
    (item,) = code_object.read_file(ARTIFACTS / "gfx1100" / "matmul.triton-3.9.0.hsaco").objects
    with pytest.raises(InputError, match=said) as caught:
        code_object.disassemble(item)
    assert "pip install rocm-bindings-compiler" in str(caught.value)


def test_without_any_disassembler_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what brings one."""
    monkeypatch.setattr(disassembly, "find_library", lambda: None)
    monkeypatch.setattr(disassembly, "_objdumps", tuple)
    (item,) = code_object.read_file(PAIRS[0]).objects
    with pytest.raises(InputError, match="no disassembler is installed"):
        code_object.disassemble(item)
