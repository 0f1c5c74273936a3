"""When a recording of a program is used again, and what is told when there is none: without running one."""

import os
import shutil
import sys
import time
from types import SimpleNamespace

import pytest

from kprof.captures import reader
from kprof.errors import TargetError
from kprof.gate import programs
from kprof.gate.config import GateProgram
from kprof.gate.programs import capture_of, recorded
from kprof.recording import command as recording_command

PROGRAM = GateProgram(command=["python", "step.py"], name="step")
GPU = "gfx942"


@pytest.fixture
def ran(tmp_path, monkeypatch, recording):
    """A program whose recording is made up: what was asked for, and what to change of it."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "step.py").write_text("1")
    (tmp_path / "beside.py").write_text("1")

    class Ran:
        folder = tmp_path / "work"
        runs = 0
        status = 0
        interrupted = False
        lines = None
        text = ""
        asked = ()

        def prepare(self, options, command):
            self.options = options
            return (options, tuple(command))

        def run(self, settings, command, **how):
            self.runs += 1
            self.asked = (*settings, list(command), how)
            options = settings[0]
            shutil.rmtree(recording.root, ignore_errors=True)
            if self.lines is None:
                known = {name: programs.digest(self.folder / name) for name in ("step.py",)}
                outer = {name: programs.digest(self.folder / name) for name in ("../beside.py",)}
                lines = [{"t": "sources", "files": known, "outside": outer}, {"t": "end"}]
            else:
                lines = self.lines
            where = os.path.relpath(self.folder, options.output)
            recording(lines=lines, root=where, text=self.text, command=list(command))
            options.output.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(recording.root, options.output)
            if self.runs_nothing:
                (options.output / "journal" / "1-a.jsonl").write_text('{"t": "end"}\n')
            return SimpleNamespace(status=self.status, interrupted=self.interrupted, obey=lambda: None)

        runs_nothing = False

        def __call__(self, program=PROGRAM, gpu=GPU):
            return capture_of(program, gpu, self.folder, 3)

    made = Ran()
    monkeypatch.setattr(recording_command, "prepare", made.prepare)
    monkeypatch.setattr(recording_command, "run", made.run)
    return made


def test_a_program_is_run_in_its_folder_and_says_nothing(ran):
    """With this Python, its output on standard error, without a GPU; the capture is whole."""
    place = ran()
    options, prepared, command, how = ran.asked
    assert command == list(prepared) == [sys.executable, "step.py"]
    assert how == {"folder": ran.folder, "stdout": 2}
    assert (options.arch, options.jobs, options.execute, options.folder) == (GPU, 3, False, ran.folder)
    assert [kernel.name for kernel in reader.read(place).kernels] == ["matmul"]
    assert [path.name for path in place.parent.iterdir()] == [place.name], "nothing half made is left"


@pytest.mark.parametrize(
    ("first", "own"), [("python", True), ("python3", True), ("python3.12", False), ("make", False)]
)
def test_python_is_the_one_that_runs_kprof(ran, first, own):
    """By its plain names."""
    ran(GateProgram(command=[first, "x"]))
    assert ran.asked[2] == [sys.executable if own else first, "x"]


def test_a_recording_is_used_again_while_nothing_has_changed(ran):
    """And not for another command, GPU or folder."""
    first = ran()
    assert ran() == first
    assert ran.runs == 1
    assert ran(gpu="gfx950") != first
    assert ran(GateProgram(command=["python", "step.py", "--large"])) != first
    ran.folder = ran.folder.parent
    (ran.folder / "step.py").write_text("1")
    (ran.folder.parent / "beside.py").write_text("1")
    assert ran() != first
    assert ran.runs == 4


def change(ran, place, what):
    """One thing that makes a recording unfit."""
    if what == "source":
        (ran.folder / "step.py").write_text("2")
    elif what == "source is gone":
        (ran.folder / "step.py").unlink()
        (ran.folder / "step.py").mkdir()
    elif what == "outside":
        (ran.folder / "../beside.py").write_text("2")
    elif what == "content":
        file = next(place.rglob("kernel.amdgcn"))
        file.write_text(file.read_text().replace(".vgpr_spill_count: 0", ".vgpr_spill_count: 1"))
    elif what == "no content":
        (place / ".content").unlink()
    elif what == "content that is no text":
        (place / ".content").write_bytes(b"\xff")
    elif what == "no head":
        (place / "capture.json").unlink()
    elif what == "head":
        (place / "capture.json").write_text("{")
        (place / ".content").write_text(programs.of_folders([place], remember=False))
    elif what == "others may write":
        place.chmod(0o777)


@pytest.mark.parametrize(
    "what",
    [
        *("source", "source is gone", "outside", "content", "no content", "content that is no text", "no head", "head"),
        "others may write",
    ],
)
def test_a_recording_is_made_again(ran, what):
    """Where a file of the program has changed, or the recording is not what it was."""
    place = ran()
    change(ran, place, what)
    assert ran() == place
    assert ran.runs == 2
    if "source" not in what:
        assert ran() == place
        assert ran.runs == 2


def test_what_a_shell_read_is_not_known_so_that_it_is_run_again(ran):
    """A tile from ``$(cat tile.txt)`` had changed, and the old recording was judged: ok."""
    for number in (1, 2):
        ran(GateProgram(command=["sh", "run.sh"]))
        assert ran.runs == number


@pytest.mark.parametrize(
    "lines",
    [
        *([], [{"t": "end"}], [{"t": "sources", "files": {}}]),
        [{"t": "sources", "files": {}, "overflowed": True}, {"t": "end"}],
    ],
)
def test_a_recording_that_does_not_know_its_sources_or_its_end_is_never_used_again(ran, lines):
    """Nobody knows what it would be without a run."""
    ran.lines = lines
    assert ran() == ran()
    assert ran.runs == 2


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (3, "failed with exit status 3"),
        (1, "failed with exit status 1"),
        (-9, "was ended by signal 9"),
        (-1, "was ended by signal 1"),
    ],
)
def test_a_program_that_fails_leaves_nothing(ran, status, words):
    """Whatever it launched before."""
    ran.status = status
    with pytest.raises(TargetError) as caught:
        ran()
    assert caught.value == TargetError(f"the program {words}", path="step", hint="Its output is above.")
    assert list((ran.folder.parent / "cache" / "programs").iterdir()) == []


def test_a_program_that_launches_nothing(ran):
    """It is no program to watch."""
    ran.runs_nothing = True
    with pytest.raises(TargetError) as caught:
        ran()
    assert caught.value == TargetError("the program launched no Triton kernel", path="step")
    assert list((ran.folder.parent / "cache" / "programs").iterdir()) == []


def test_ctrl_c_ends_the_check(ran):
    """Not the program alone."""
    ran.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        ran()


def test_each_architecture_is_a_recording(ran):
    """What goes wrong with one is told there; a product is judged with its numbers."""
    (ran.folder / "step.py").write_text("1")
    good, bad = recorded(PROGRAM, ["MI300X", "gfx950"], ran.folder)
    assert (good.report.name, good.report.product, good.problem, good.left_out) == ("matmul", "MI300X", None, "")
    assert good.kernel == "step::matmul"
    assert (bad.report.arch, bad.report.name) == ("gfx950", "step")
    assert "the capture contains gfx942, not gfx950" in bad.problem


def test_what_the_environment_and_the_installed_versions_are_counts(ran, monkeypatch):
    """Triton's version, and torch's that may not be there."""
    ran()
    monkeypatch.setenv("TIMES", "4")
    ran()
    assert ran.runs == 2
    asked = []
    monkeypatch.setattr(programs, "version", lambda name: (asked.append(name), f"{name} 99")[1])
    ran()
    assert asked == ["triton", "torch", "pytorch-triton-rocm"]
    assert ran.runs == 3
    monkeypatch.setattr(programs, "_installed", lambda: [["kernels-1.0.dist-info", "abc"]])
    ran()
    assert ran.runs == 4


def test_packages_are_known_by_the_lists_of_their_files(tmp_path, monkeypatch):
    """In order, each folder once, those of ``*-packages`` alone; a list that cannot be read is there all the same."""
    for place in ("site-packages", "dist-packages", "elsewhere"):
        for name in ("b-1.dist-info", "a-2.dist-info"):
            (tmp_path / place / name).mkdir(parents=True)
            (tmp_path / place / name / "RECORD").write_text(name)
    (tmp_path / "site-packages" / "c-1.dist-info" / "RECORD").mkdir(parents=True)
    places = [str(tmp_path / place) for place in ("site-packages", "dist-packages", "site-packages", "elsewhere")]
    monkeypatch.setattr(sys, "path", places)
    found = programs._installed()
    assert [name for name, _ in found] == ["a-2.dist-info", "b-1.dist-info"] * 2 + ["c-1.dist-info"]
    assert [len(content) for _, content in found] == [64, 64, 64, 64, 0]


def test_one_worker_a_core_by_default(ran):
    """As for every command; a recording's folder has a name of its own."""
    place = capture_of(PROGRAM, GPU, ran.folder)
    assert ran.options.jobs == 0
    assert len(place.name) == 32
    list(recorded(PROGRAM, ["gfx950"], ran.folder))
    assert ran.options.jobs == 0


def test_a_half_made_recording_of_a_killed_check_is_no_harm(ran):
    """It is made anew."""
    place = ran()
    shutil.move(place, place.with_name(f"{place.name}.{os.getpid()}"))
    assert ran() == place
    assert [path.name for path in place.parent.iterdir()] == [place.name]
    assert time.time() - place.stat().st_mtime < 600
