"""TTIR is compiled to what the function it came from is compiled to; what is no TTIR is told as such."""

import json
import re
from dataclasses import replace

import pytest

from kprof.captures import layout
from kprof.compiler.compile import compile_kernel, compile_many
from kprof.compiler.from_ttir import RESULT, load_recorded
from kprof.errors import KprofError
from kprof.targets.signature import load_signature

pytestmark = pytest.mark.triton

LINE = re.compile(r"^\s*\.loc\s+\d+ (\d+) ", re.MULTILINE)
CARRIED = """import triton
import triton.language as tl


@triton.jit
def carried(x, y, n, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    place = rows[:, None] * BLOCK + rows[None, :]
    state = tl.zeros((BLOCK, BLOCK), tl.float32)
    for i in range(n):
        state = tl.dot(tl.load(x + i * BLOCK * BLOCK + place), state)
    tl.store(y + place, state)
"""


@pytest.fixture
def recorded(add_request, tmp_path):
    """A request for the TTIR of the vector addition, and what the function itself gives."""
    request = add_request()
    direct = compile_kernel(request)
    path = tmp_path / "kernel.ttir"
    path.write_text(direct.text("ttir"))
    return replace(request, path=str(path)), direct


def code(assembly):
    """Instructions and labels, without positions and names of files."""
    lines = (line.split(";")[0].rstrip() for line in assembly.splitlines())
    return [
        line for line in lines if line and not re.match(r"\s*\.(loc|file|ident|section|asciz|byte|long|short)", line)
    ]


def test_the_same_code_comes_of_it(recorded):
    """Instruction by instruction, with the same LDS and number of wavefronts."""
    request, direct = recorded
    again = compile_kernel(request)
    assert code(again.amdgcn) == code(direct.amdgcn)
    assert {n: again.metadata[n] for n in ("shared", "num_warps", "name")} == {
        n: direct.metadata[n] for n in ("shared", "num_warps", "name")
    }


def test_passes_that_this_triton_has_run_are_not_repeated(recorded, tmp_path):
    """The file beside the TTIR names the version that wrote it. With another or an unknown version the passes run."""
    request, direct = recorded
    assert RESULT == layout.RESULT
    assert "ttir" in compile_kernel(request).stage_seconds
    contents = (json.dumps({"triton": direct.triton_version}), '{"triton": "0.0.1"}', '{"triton": 1}', "[" * 100_000)
    for number, content in enumerate(contents):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / RESULT).write_text(content)
        (folder / "kernel.ttir").write_text(direct.text("ttir"))
        again = compile_kernel(replace(request, path=str(folder / "kernel.ttir")))
        assert ("ttir" in again.stage_seconds) is (number > 0)
        assert code(again.amdgcn) == code(direct.amdgcn)
        assert again.text("ttir")


def test_options_and_text_are_part_of_the_result(recorded, tmp_path):
    """Other options give other code; a changed file is compiled again."""
    request, direct = recorded
    wide = compile_kernel(replace(request, options={**request.options, "num_warps": 8}))
    assert (direct.metadata["num_warps"], wide.metadata["num_warps"]) == (4, 8)
    text = (tmp_path / "kernel.ttir").read_text()
    assert "arith.addf" in text
    (tmp_path / "kernel.ttir").write_text(text.replace("arith.addf", "arith.mulf"))
    assert code(compile_kernel(request).amdgcn) != code(direct.amdgcn)


@pytest.mark.parametrize("text", ["", "module {", "tt.func @f() { nonsense.op }", "not MLIR at all \0"])
def test_what_is_no_ttir(recorded, pool, tmp_path, text):
    """One message, whatever it is instead; the worker lives on."""
    request, _ = recorded
    (tmp_path / "kernel.ttir").write_text(text)
    (bad, good) = sorted(compile_many([request, replace(request, path=request.path)], pool=pool), key=lambda o: o.index)
    assert bad.status == good.status == "failed"
    assert "\n" not in bad.error


def test_links_are_not_followed(recorded, tmp_path):
    """A capture may come from a stranger."""
    (tmp_path / "link.ttir").symlink_to(tmp_path / "kernel.ttir")
    with pytest.raises(KprofError, match="is a link"):
        load_recorded(str(tmp_path / "link.ttir"), "f")
    with pytest.raises(KprofError, match="no such file"):
        load_recorded(str(tmp_path / "none.ttir"), "f")


@pytest.mark.triton("3.6.", "3.7.", "3.8.", "3.9.")
def test_each_instruction_has_a_line_of_the_source(tmp_path):
    """Values that a loop carries have no location in the text; the line of the text itself is none."""
    source = tmp_path / "carried.py"
    source.write_text(CARRIED)
    request = load_signature(str(source), "carried", "*fp32,*fp32,i32", "gfx942", {"BLOCK": 64})
    direct = compile_kernel(request)
    path = tmp_path / "kernel.ttir"
    path.write_text("//\n" * 100 + direct.text("ttir"))
    again = compile_kernel(replace(request, path=str(path)))
    assert code(again.amdgcn) == code(direct.amdgcn)
    lines = range(CARRIED.count("\n") + 1)
    assert {int(line) for line in LINE.findall(direct.amdgcn)} <= set(lines)
    assert {int(line) for line in LINE.findall(again.amdgcn)} <= set(lines)
    assert path.name not in again.text("ttgir")
