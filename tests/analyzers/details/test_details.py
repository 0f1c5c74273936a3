"""Source beside instructions, curves and shares, from real assembly."""

from pathlib import Path

import pytest

from kprof.document import Resources
from kprof.hardware.machine import load
from kprof.targets.artefacts import load_file
from kprof_analyzers.details import SourceText, details_of, occupancy_curves
from kprof_analyzers.details.listing import source_beside_code
from kprof_analyzers.occupancy import OccupancyInput, occupancy
from kprof_analyzers.pipeline import facts_of

ARTIFACTS = Path(__file__).parents[2] / "artifacts"


@pytest.fixture
def matmul():
    """A matrix product for gfx942 that Triton compiled."""
    (path,) = (ARTIFACTS / "gfx942").glob("matmul.triton-3.9.0.amdgcn")
    (loaded,) = load_file(path)
    return facts_of(loaded)[0]


def test_every_instruction_is_listed_once_with_its_line(matmul):
    """Blocks hold the program in order; lines count what the reader says of each instruction."""
    found = details_of(matmul, SourceText())
    program = matmul.program
    listed = [line for block in found.blocks for line in block.code]
    assert [line.text for line in listed] == [instruction.text for instruction in program.instructions]
    for line, instruction in zip(listed, program.instructions, strict=True):
        frame = instruction.user_frame
        where = None if line.place is None else (found.files[line.place[0]].path, line.place[1])
        assert where == (None if frame is None else (frame.file, frame.line))
    counted = sum(line.instructions for file in found.files for line in file.lines)
    assert counted == sum(line.place is not None for line in listed)
    depths = {block.loop: block.depth for block in found.blocks}
    assert {loop.header for loop in program.loops} <= set(depths)


def test_shares_add_up_to_the_whole(matmul):
    """Each instruction's causes are shares of one whole, and lines have the sum of theirs."""
    found = details_of(matmul, SourceText())
    assert sum(line.share for block in found.blocks for line in block.code) == pytest.approx(1.0)
    for file in found.files:
        for line in file.lines:
            assert line.share == pytest.approx(sum(line.causes.values()))
    by_place = sum(line.share for block in found.blocks for line in block.code if line.place is not None)
    assert by_place == pytest.approx(sum(line.share for file in found.files for line in file.lines))


def test_without_a_model_shares_are_unknown_and_not_zero(matmul):
    """Nothing modelled: the lines say so."""
    files, _ = source_beside_code(matmul, None, SourceText())
    assert {line.share for file in files for line in file.lines} == {None}


def test_source_text_is_shown_only_where_it_may_be_read(matmul, tmp_path):
    """Without a folder the text is hidden with the reason; below one it is found by the end of its path."""
    (hidden,) = details_of(matmul, SourceText((tmp_path,))).files
    assert hidden.hidden is not None
    assert all(line.text is None for line in hidden.lines)
    last = max(line.number for line in hidden.lines)
    (tmp_path / Path(hidden.path).name).write_text("".join(f"line {n}\n" for n in range(1, last + 20)))
    (shown,) = details_of(matmul, SourceText((tmp_path,))).files
    assert shown.hidden is None
    assert all(line.text == f"line {line.number}" for line in shown.lines)
    costs = {line.number: line.instructions for line in shown.lines if line.instructions}
    assert costs == {line.number: line.instructions for line in hidden.lines}
    assert len(shown.lines) > len(hidden.lines)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "secret.txt", "x.py\0", "../../secret.py", "a" * 5000 + ".py", "", "/"]
)
def test_other_files_are_never_read(path, tmp_path):
    """Names from strangers: no file outside the folder, none that is not source, no crash."""
    (tmp_path / "secret.py").write_text("key = 1")
    (tmp_path / "secret.txt").write_text("key = 1")
    inside = tmp_path / "project"
    inside.mkdir()
    (inside / "secret.py").symlink_to(tmp_path / "secret.py")
    assert isinstance(SourceText((inside,)).lines(path), str)
    assert isinstance(SourceText((Path("/"),)).lines(str(tmp_path / "secret.py")), str)


def test_sources_in_the_folder_are_found_by_any_tail_of_their_path(tmp_path):
    """A compile elsewhere (in a container, say) named another root."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "k.py").write_bytes(b"a\r\nb\x0cc\xff\n")
    reader = SourceText((tmp_path,))
    for path in ("/build/pkg/k.py", "pkg/k.py", str(tmp_path / "pkg" / "k.py"), "C:\\build\\pkg\\k.py"):
        assert reader.lines(path) == ["a", "b\x0cc\N{REPLACEMENT CHARACTER}", ""]
    assert SourceText(trusted=True).lines(str(tmp_path / "pkg" / "k.py"))[0] == "a"
    (tmp_path / "big.py").write_bytes(b"x" * (5 << 20))
    assert str(reader.lines("big.py")).startswith("too large: ")


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1201"])
def test_curves_agree_with_the_occupancy_of_each_amount(arch):
    """At the ends of every step, and at the kernel's own place."""
    size = load(arch).wavefront_size
    taken = Resources(vgpr=100, sgpr=40, lds_bytes=20_000, num_warps=4, wavefront_size=size)
    registers, lds = occupancy_curves(taken, arch)
    for curve, key in ((registers, "vgpr"), (lds, "lds_bytes")):
        assert sum(step.current for step in curve.steps) == 1
        for step in curve.steps:
            for amount in {step.first, step.last}:
                demand = {"vgpr": 100, "sgpr": 40, "lds_bytes": 20_000, "num_warps": 4, key: amount}
                found = occupancy(OccupancyInput(arch=load(arch), **demand))
                assert found.waves_per_simd == step.waves_per_simd


def test_unknown_or_impossible_resources_make_no_curve():
    """A document may come from anywhere."""
    good = {"vgpr": 64, "lds_bytes": 0, "num_warps": 4, "wavefront_size": 64}
    assert occupancy_curves(Resources(**good), "gfx942")
    for wrong in ({"vgpr": None}, {"lds_bytes": None}, {"vgpr": 10**9}, {"num_warps": -1}, {"wavefront_size": 48}):
        assert occupancy_curves(Resources(**{**good, **wrong}), "gfx942") == []
    assert occupancy_curves(Resources(**good), "gfx9999") == []
