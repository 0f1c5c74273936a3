"""A recorded program makes its launches again with other tiles."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kprof.captures.reader import read
from kprof.compiler.compile import compile_kernel
from kprof.errors import KprofError
from kprof.targets.recompile import RecompilableKernel, recorded
from kprof.tuning.recorded.relaunch import ProgramRun, Relaunch, RelaunchedProgram, program_of

pytestmark = pytest.mark.triton


def running(capture: Path, *names: str) -> tuple[list[RecompilableKernel], ProgramRun]:
    """Kernels, and the program on its way to their launches."""
    each = [recorded(f"{capture}::{name}")[0][0] for name in names]
    program = program_of(read(capture), "MI300X")
    assert isinstance(program, RelaunchedProgram)
    return each, ProgramRun(each, program)


@contextmanager
def again(capture: Path, name: str) -> Iterator[tuple[RecompilableKernel, Relaunch]]:
    """The program at the launch of a kernel."""
    (each,), program = running(capture, name)
    with closing(program):
        place, relaunch = program.next_launch()
        assert place == 0
        yield each, relaunch


def test_an_autotuned_kernel_with_heuristics_and_a_grid_from_its_values(tiles: Path) -> None:
    """The grid follows, and so does what heuristics make of the block."""
    with again(tiles, "tuned") as (each, relaunch):
        assert [(config["BLOCK"], config["num_warps"]) for config in relaunch.ready.configs] == [(256, 4), (1024, 4)]
        assert (relaunch.ready.dealt, relaunch.ready.stepped) == ({"BLOCK"}, frozenset())
        made = relaunch.ask({"BLOCK": 512})
        assert made.grid == (128, 1, 1)
        assert made.request.constexprs["BLOCK"] == 512
        assert made.request.constexprs["EVEN"] is True
        large = relaunch.ask({"BLOCK": 1 << 17})
        assert (large.grid, large.request.constexprs["EVEN"]) == ((1, 1, 1), False)
        # What is made again compiles, with the recorded options.
        assert compile_kernel(replace(made.request, options=each.job.request.options)).stages["amdgcn"]


def test_what_its_autotuner_compiled_already(tiles: Path) -> None:
    """Triton keeps those kernels and does not ask for their compile again; the one that runs is no change."""
    with again(tiles, "tuned") as (_, relaunch):
        made = relaunch.ask({"BLOCK": 1024})
        assert (made.grid, made.request.constexprs["BLOCK"]) == ((64, 1, 1), 1024)
        assert "1024xf32" in Path(made.request.path).read_text()
        with pytest.raises(KprofError, match="these values lead to the same kernel"):
            relaunch.ask({"BLOCK": 256})


def test_a_grid_and_a_workspace_that_are_worked_out_before_the_launch(tiles: Path) -> None:
    """From an entry of a dictionary that the program read from a file."""
    with again(tiles, "partial") as (_, relaunch):
        assert relaunch.ask({"BLOCK_N": 128}).grid == (512, 1, 1)
        assert relaunch.ask({"BLOCK_N": 4096}).grid == (16, 1, 1)
        assert [Path(path).name for path in relaunch.ready.files if path.endswith("tiles.json")] == ["tiles.json"]
        assert relaunch.ready.dealt == {"BLOCK_N"}


def test_one_run_stands_at_the_launches_of_several_kernels_in_turn(tiles: Path) -> None:
    """In the order of the program, whatever the order of the question; then there is nothing left to wait for."""
    each, program = running(tiles, "product", "tuned", "partial")
    with closing(program):
        seen = {}
        for _ in each:
            place, relaunch = program.next_launch()
            seen[each[place].kernel.name] = sorted(relaunch.ready.dealt)
            if each[place].kernel.name == "partial":
                assert relaunch.ask({"BLOCK_N": 128}).grid == (512, 1, 1)
        with pytest.raises(KprofError, match="ended with exit status 0"):
            program.next_launch()
    assert seen == {"tuned": ["BLOCK"], "partial": ["BLOCK_N"], "product": ["BLOCK_M", "BLOCK_N"]}
    assert list(seen) == ["tuned", "partial", "product"]


def test_nothing_is_compiled_that_nothing_waits_for(
    tiles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what an autotuner lists nor what is launched: its choice is known from the recording."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))
    _, program = running(tiles, "product", "tuned")
    with closing(program):
        names = [program.next_launch()[1].ready.dealt for _ in range(2)]
        assert names == [{"BLOCK"}, {"BLOCK_M", "BLOCK_N"}]
        assert not list(program._folder.glob("capture/kernels/*"))


def test_what_does_not_follow_is_refused(tiles: Path) -> None:
    """A grid that is a number in the program; the others wait for nothing."""
    with (
        again(tiles, "fixed") as (_, relaunch),
        pytest.raises(KprofError, match="the program's grid does not depend on BLOCK_N"),
    ):
        relaunch.ask({"BLOCK_N": 512})


def test_tiles_of_a_product(tiles: Path) -> None:
    """Two axes of the grid by way of other variables; the step of the loop needs no other grid."""
    with again(tiles, "product") as (_, relaunch):
        assert (relaunch.ready.dealt, relaunch.ready.stepped) == ({"BLOCK_M", "BLOCK_N"}, {"BLOCK_K"})
        made = relaunch.ask({"BLOCK_M": 128, "BLOCK_K": 64})
        assert made.grid == (2, 8, 1)
        assert "128x64xf16" in Path(made.request.path).read_text()
        assert relaunch.ask({"BLOCK_N": 64}).grid == (4, 4, 1)


def test_a_program_that_is_another_one_by_now_is_not_run(tiles: Path, tmp_path: Path) -> None:
    """Nor one that is gone, or that is no Python file: a capture may come from a stranger."""
    folder = tmp_path / "copy"
    shutil.copytree(tiles.parent, folder)
    assert isinstance(program_of(read(folder / "capture"), "MI300X"), RelaunchedProgram)
    script = folder / "tiles.py"
    script.write_text(script.read_text() + "\n")
    assert "tiles.py changed" in str(program_of(read(folder / "capture"), "MI300X"))
    script.unlink()
    assert "tiles.py is gone" in str(program_of(read(folder / "capture"), "MI300X"))
    for command in ([], ["sh", "-c", "tiles.py"], ["python", "-c", "print()"], ["python", "-m", "tiles"]):
        head = json.loads((tiles / "capture.json").read_text())
        (folder / "capture" / "capture.json").write_text(json.dumps({**head, "command": command}))
        assert "does not say which Python file" in str(program_of(read(folder / "capture"), "MI300X"))


def test_a_program_outside_of_its_sources_is_not_run(tiles: Path, tmp_path: Path) -> None:
    """Whatever the command line says."""
    folder = tmp_path / "inner"
    shutil.copytree(tiles.parent, folder)
    (tmp_path / "other.py").write_text("print('no')\n")
    (folder / "mine.py").write_text("print('no')\n")
    head = json.loads((tiles / "capture.json").read_text())
    for name in ("../other.py", str(tmp_path / "other.py"), "mine.py"):
        (folder / "capture" / "capture.json").write_text(json.dumps({**head, "command": ["python", name]}))
        found = program_of(read(folder / "capture"), "MI300X")
        assert isinstance(found, str), name
