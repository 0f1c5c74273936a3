"""MLIR without assembly: a module alone, and dumps of many passes of several compiles."""

import re
from pathlib import Path

import pytest

from kprof.api.read_mlir import read_mlir
from kprof.compiler.dumped import modules_of
from kprof.errors import KprofError

MLIR = Path(__file__).parents[1] / "artifacts/mlir"
TTGIR = (MLIR / "matmul.gfx942.stages2.triton-3.9.ttgir").read_text()
TTIR = (MLIR / "matmul.triton-3.9.ttir").read_text()


def printed(name: str, module: str) -> str:
    """What MLIR prints before a pass."""
    return f"// -----// IR Dump Before {name} ({name.lower()}) ('builtin.module' operation) //----- //\n{module}\n\n"


def test_a_ttgir_alone():
    """Layouts, buffers and wavefronts as the text has them; what only assembly tells is named."""
    found = read_mlir(MLIR / "matmul.gfx942.stages2.triton-3.9.ttgir")
    (one,) = found.modules
    assert (one.kernel, one.target, one.num_warps, one.shared) == ("matmul", "hip:gfx942", 4, None)
    assert one.measures["dots"] == len(re.findall(r"= tt\.dot ", TTGIR))
    assert one.measures["local_alloc"] == len(re.findall(r"= ttg\.local_alloc", TTGIR))
    assert one.measures["convert_layout"] == TTGIR.count("ttg.convert_layout")
    assert one.layouts["#mma"].startswith("#ttg.amd_mfma<")
    assert "registers" in one.unknown
    assert "LDS not placed yet" in found.summary
    assert found.to_frame().loc[0, "dots"] == one.measures["dots"]


@pytest.mark.parametrize("path", sorted(MLIR.glob("*.tt*ir")), ids=lambda path: path.name)
def test_every_version_and_stage(path):
    """Triton 3.4 to 3.9, before and after layouts."""
    (one,) = read_mlir(path).modules
    assert one.kernel == "matmul"
    assert (one.num_warps is None) == (path.suffix == ".ttir")


def test_a_dump_of_two_compiles_among_lines_of_the_program():
    """Each kernel by itself, with the passes that changed something; the program's lines are no MLIR."""
    placed = TTGIR.replace('"ttg.num-warps" = 4 : i32', '"ttg.num-warps" = 4 : i32, ttg.shared = 8192 : i32')
    assert placed != TTGIR
    dump = "epoch 1\n" + printed("Inliner", TTIR) + "loss: 3.2 @step\n"
    dump += printed("Pipeline", TTGIR) + printed("Lower", placed)
    other = dump.replace("@matmul", "@second")
    first, second = modules_of(dump + other, "log")
    assert (first.kernel, second.kernel) == ("matmul", "second")
    assert (first.pass_count, first.shared, first.last, first.notes) == (3, 8192, "lower", [])
    assert [row["pass"] for row in first.passes] == ["inliner", "pipeline"]
    assert first.passes[0]["dots"] == first.measures["dots"]


def test_a_dump_that_is_cut_off_is_read_as_far_as_it_goes():
    """The last module is not closed, which is told."""
    dump = printed("Inliner", TTIR) + printed("Pipeline", TTGIR)
    (one,) = modules_of(dump[: len(dump) - len(TTGIR) // 3], "log")
    assert one.pass_count == 2
    assert any("cut off" in note for note in one.notes)


@pytest.mark.parametrize("text", ["", "int main() {}\n", printed("Inliner", "no module")])
def test_what_is_no_mlir_is_refused(tmp_path, text):
    """In words, exit code 2 on the command line."""
    path = tmp_path / "given.ttgir"
    path.write_text(text)
    with pytest.raises(KprofError, match=r"MLIR|empty"):
        read_mlir(path)


def test_the_command(kprof):
    """A summary for people, everything as JSON."""
    path = MLIR / "matmul.gfx950.stages3.triton-3.9.ttgir"
    shown = kprof("ingest", "mlir", path)
    assert shown.code == 0
    assert "not known without the assembly: registers" in shown.out
    assert kprof("ingest", "mlir", path, "--json", "-").out.startswith("{")
