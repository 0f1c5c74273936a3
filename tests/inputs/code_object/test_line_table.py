"""Source lines of code objects: LLVM's own symbolizer is the oracle, and damaged debug information ends in words."""

import shutil
import subprocess
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.api.read_results import read_results
from kprof.inputs import code_object
from kprof.inputs.code_object import disassembly, llvm_library
from kprof.inputs.code_object.line_table import EMPTY, read_line_table

SYMBOLIZERS = ("llvm-symbolizer-19", "llvm-symbolizer")
SOURCE = """
static float twice(float x) { return x + x * 3.0f; }
static float square(float x) { return twice(x) * x; }
kernel void first(global float *x, global float *y, int n) {
    int at = __builtin_amdgcn_workitem_id_x();
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
        sum += square(x[at + i]) + twice(y[i]);
    }
    y[at] = sum;
}
kernel void second(global float *x) {
    x[__builtin_amdgcn_workitem_id_x()] = square(x[__builtin_amdgcn_workitem_id_y()]);
}
"""


@pytest.fixture(scope="module", params=["4", "5"])
def built(request, tmp_path_factory):
    """A linked object of two kernels with inlined calls in each version of DWARF that compilers write."""
    clang = shutil.which("clang-19")
    if clang is None or shutil.which("ld.lld-19") is None:
        pytest.skip("clang-19 and lld-19 are not installed")
    folder = tmp_path_factory.mktemp("lines")
    (folder / "two.cl").write_text(SOURCE)
    command = [clang, "-x", "cl", "-cl-std=CL2.0", "-O2", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib"]
    command += [f"-gdwarf-{request.param}", "-gline-tables-only", "two.cl", "-o", "two.o"]
    subprocess.run(command, check=True, cwd=folder, timeout=60)
    return folder / "two.o"


def symbolized(file, addresses):
    """What LLVM says of each address: lines and columns, the innermost first."""
    tool = next((found for found in map(shutil.which, SYMBOLIZERS) if found), None)
    if tool is None:
        pytest.skip("llvm-symbolizer is not installed")
    asked = "\n".join(f"{address:#x}" for address in addresses)
    command = [tool, "--obj", str(file), "--inlines", "--functions=none", "--no-demangle"]
    said = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, timeout=60).stdout
    answers = [block.splitlines() for block in said.strip().split("\n\n")]
    return [tuple(tuple(map(int, line.rsplit(":", 2)[1:])) for line in answer) for answer in answers]


def test_lines_and_calls_are_those_of_the_symbolizer(built):
    data = built.read_bytes()
    table = read_line_table(data)
    text = next(s for s in code_object.elf.Elf(data).sections if s.name == ".text")
    addresses = range(text.address, text.address + text.size, 4)
    known = [(address, frames) for address in addresses if (frames := table.at(address))]
    theirs = symbolized(built, [address for address, _ in known])
    assert len(theirs) == len(known) > 40
    for (address, frames), said in zip(known, theirs, strict=True):
        assert tuple((f.line, f.column) for f in frames) == said, hex(address)
    assert {len(frames) for _, frames in known} >= {1, 2, 3}
    assert {table.files[frame.file][1] for _, frames in known for frame in frames} == {"two.cl"}


def test_wavefronts_of_a_debug_agents_report_get_lines(built, tmp_path, kprof):
    """Every instruction of a kernel as the place of a fault: the symbolizer's outermost frame is none of a library."""
    (kernel,) = (k for k in code_object.read_file(built).kernels if k.name == "second")
    report = tmp_path / "agent.txt"
    offsets = range(0, kernel.code_bytes, 4)
    report.write_text(
        "".join(
            f"wave_{n}: pc={0x70000 + offset:#x} (kernel_code_entry=0x70000 <second>) (stopped, reason: TRAP)\n"
            for n, offset in enumerate(offsets)
        )
    )
    rows = read_results(report, code_object=built).results.rows
    theirs = symbolized(built, [kernel.address + offset for offset in offsets])
    known = [(row["source"], said) for row, said in zip(rows, theirs, strict=True) if row["source"] is not None]
    assert len(known) > 10
    assert all(source.endswith(f"two.cl:{said[0][0]}") for source, said in known)
    shown = kprof("ingest", "results", report, "--code-object", built)
    assert shown.code == 0
    assert f"line: {rows[0]['source']} (line table of {built})" in shown.out


def test_instructions_have_them(built):
    if llvm_library.find_library() is None and disassembly.find_objdump() is None:
        pytest.skip("no disassembler is installed")
    (code,) = code_object.read_file(built).objects
    kernel = code_object.disassemble(code).kernel("second")
    loads = [i for i in kernel.instructions if i.opcode.name.startswith("global_load")]
    assert {frame.line for i in loads for frame in i.location} == {13}
    products = [i for i in kernel.instructions if i.opcode.name.startswith(("v_mul_f32", "v_fma", "v_pk_mul"))]
    assert products
    assert all(i.location[-1].line == 13 and i.location[0].line in {2, 3} for i in products)


def test_an_object_without_debug_information_has_none(built):
    stripped = built.with_name("stripped.o")
    tool = shutil.which("llvm-strip-19") or pytest.skip("llvm-strip-19 is not installed")
    subprocess.run([tool, "--strip-debug", str(built), "-o", str(stripped)], check=True, timeout=60)
    assert read_line_table(stripped.read_bytes()) == EMPTY


@given(st.data())
def test_damaged_debug_information_ends_in_words(built, draw):
    data = bytearray(built.read_bytes())
    sections = [s for s in code_object.elf.Elf(bytes(data)).sections if s.name.startswith(".debug_")]
    for _ in range(draw.draw(st.integers(1, 8))):
        section = draw.draw(st.sampled_from(sections))
        data[section.offset + draw.draw(st.integers(0, section.size - 1))] = draw.draw(st.integers(0, 255))
    table = EMPTY
    with suppress(ValueError):
        table = read_line_table(bytes(data))
    assert list(table.addresses) == sorted(table.addresses)
    assert all(0 <= frame.file < len(table.files) for row in table.rows for frame in row)


def test_what_is_amiss_is_said(built, monkeypatch):
    if llvm_library.find_library() is None and disassembly.find_objdump() is None:
        pytest.skip("no disassembler is installed")

    def damaged(data):
        raise ValueError("a length of 7 bytes")

    monkeypatch.setattr(disassembly, "read_line_table", damaged)
    (code,) = code_object.read_file(built).objects
    read = code_object.disassemble(code)
    assert read.notes == ("the debug information cannot be read, so no source lines are known: a length of 7 bytes",)
    assert read.kernel("first").instructions
