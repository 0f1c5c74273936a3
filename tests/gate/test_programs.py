"""Programs that the check itself records."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.gate.config import GateProgram
from kprof.gate.programs import _environment, _installed

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = '''
import sys
from pathlib import Path

import triton
import triton.language as tl

from tile import BLOCK


class Tensor:
    """What Triton needs of a tensor."""

    dtype, shape = "fp32", (4096,)

    def data_ptr(self):
        return 4096

    def ptr_range(self):
        return 1 << 20

    def stride(self):
        return (1,)


@triton.jit
def double(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at))


with Path("runs.log").open("a") as log:
    log.write("once\\n")
print("printed by the program")
double[(4,)](Tensor(), Tensor(), BLOCK=BLOCK)
'''


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Puts a program under a gate; gives its folder."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def under(*command, **keys):
        words = ", ".join(f'"{word}"' for word in command)
        more = "".join(f"{name} = {value}\n" for name, value in keys.items())
        text = f'arch = ["gfx942"]\nfail_on = "never"\n[[program]]\ncommand = [{words}]\n{more}'
        (folder / "kprof.toml").write_text(text)
        return folder

    return under


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["python", "-c", "raise SystemExit(3)"], "the program failed with exit status 3"),
        (["python", "-c", "import os; os.kill(os.getpid(), 9)"], "the program was ended by signal 9"),
        (["python", "-c", "pass"], "the program launched no Triton kernel"),
        (["no-such-program-here"], "cannot be run: No such file or directory"),
    ],
)
def test_a_program_that_cannot_be_recorded_cannot_be_told(gate, kprof, command, message):
    """One reason in the verdict's line, and nothing left that the next check would take for a capture."""
    folder = gate(*command)
    for _ in range(2):
        ran = kprof("check")
        assert ran.code == 2
        assert message in ran.out.splitlines()[-1]
    assert list((folder.parent / "cache" / "programs").iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[program]]\ncommand = []\n", "line 2: a program needs a command"),
        ("[[program]]\ncommand = ['x']\ntarget = 'y'\n", "has no key 'target'"),
        ("[[program]]\nname = 'x'\n", "command"),
    ],
)
def test_a_program_needs_a_command(tmp_path, monkeypatch, kprof, text, message):
    """Told with the line, before anything runs."""
    (tmp_path / "kprof.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    ran = kprof("check")
    assert ran.code == 2
    assert message in ran.err


def test_a_program_is_judged_under_its_name_or_its_command():
    """Words that a shell would take apart are quoted."""
    assert GateProgram(command=["python", "a b.py"]).entry().target == "python 'a b.py'"
    assert GateProgram(command=["python", "x.py"], name="step").entry().target == "step"


@pytest.mark.triton
def test_a_program_is_recorded_again_only_when_a_file_of_it_changes(gate, kprof, monkeypatch):
    """A module that it imports counts, a file beside it does not; what it prints is kept out of the document."""
    folder = gate(sys.executable, "step.py", name='"step"', budget="{max_vgpr_spills = 0}")
    (folder / "step.py").write_text(PROGRAM)
    (folder / "tile.py").write_text("BLOCK = 1024\n")
    command = [sys.executable, "-m", "kprof", "check", "--json", "-"]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), str(ROOT / "analyzers"))))
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["verdict"]["summary"].startswith("ok: 1 check, within budget")
    assert "printed by the program" in ran.stderr

    def runs():
        return (folder / "runs.log").read_text().count("once")

    (folder / "other.py").write_text("BLOCK = 7\n")
    assert kprof("check").code == 0
    assert runs() == 1
    (folder / "tile.py").write_text("BLOCK = 2048\n")
    assert kprof("check").code == 0
    assert kprof("check").code == 0
    assert runs() == 2


READING = PROGRAM.replace(
    "from tile import BLOCK", "import json, os\nBLOCK = json.load(open('tile.json')) * int(os.environ.get('TIMES', 1))"
)


@pytest.mark.triton
def test_a_data_file_and_the_environment_decide_what_a_program_launches(gate, kprof, monkeypatch):
    """Both were not looked at, so an old recording was judged; job numbers are no reason to record again."""
    folder = gate("python", "step.py", budget="{max_vgpr_allocated = 40}")
    (folder / "step.py").write_text(READING)
    tile = folder / "tile.json"
    tile.write_text("1024")
    os.utime(tile, (1, 1))
    monkeypatch.setenv("GITHUB_RUN_ID", "1")
    assert kprof("check").code == 0
    monkeypatch.setenv("GITHUB_RUN_ID", "2")
    assert kprof("check").code == 0
    assert (folder / "runs.log").read_text().count("once") == 1
    monkeypatch.setenv("TIMES", "16")
    assert "over-budget" in kprof("check").out
    monkeypatch.delenv("TIMES")
    tile.write_text("16384")
    os.utime(tile, (1, 1))
    assert "over-budget" in kprof("check").out


@pytest.mark.triton
def test_a_source_outside_the_work_tree_is_one_of_the_program(gate, kprof):
    """A recording is made again when it changes."""
    folder = gate("python", "step.py", budget="{max_vgpr_allocated = 40}")
    (folder / "step.py").write_text("import sys\nsys.path.insert(0, '../library')\n" + PROGRAM)
    library = folder.parent / "library"
    library.mkdir()
    (library / "tile.py").write_text("BLOCK = 1024\n")
    assert kprof("check").code == 0
    (library / "tile.py").write_text("BLOCK = 16384\n")
    assert "over-budget" in kprof("check").out


@pytest.mark.parametrize(
    ("variable", "counts"),
    [
        ("TIMES", True),
        ("CITY", True),
        ("PYTHONPATH", True),
        ("BUILD_TYPE", True),
        ("BUILD_IDLE", True),
        ("BUILD_ID", False),
        ("NO_COLOR", False),
        ("BUILD_NUMBER", False),
        ("BUILD_SOURCEVERSION", False),
        ("GITHUB_SHA", False),
        ("CI", False),
        ("KPROF_JOBS", False),
    ],
)
def test_which_variables_decide_a_recording(variable, counts):
    """What may tell a program something, not what says which job this is."""
    assert _environment({variable: "1"}) == ({variable: "1"} if counts else {})


def test_another_version_of_a_package_decides_a_recording(tmp_path, monkeypatch):
    """By the list of its files, whatever its number says."""
    record = tmp_path / "site-packages" / "kernels-1.0.dist-info" / "RECORD"
    record.parent.mkdir(parents=True)
    record.write_text("kernels/tile.py,sha256=a,10\n")
    monkeypatch.setattr(sys, "path", [str(record.parents[1])])
    before = _installed()
    assert [name for name, _ in before] == ["kernels-1.0.dist-info"]
    record.write_text("kernels/tile.py,sha256=b,10\n")
    assert _installed() != before


LOOKING = PROGRAM.replace(
    "from tile import BLOCK",
    """import glob, json, os
try:
    from tuned import BLOCK
except ImportError:
    BLOCK = 1024
if os.path.exists("tuned.json"):
    BLOCK = json.load(open("tuned.json"))
BLOCK *= 16 ** len(glob.glob("configs/*.json"))
BLOCK = json.load(open("link.json")) or BLOCK""",
)


@pytest.mark.triton
@pytest.mark.parametrize("added", ["tuned.json", "tuned.py", "configs/a.json", "link.json"])
def test_a_file_that_a_program_looked_for_is_one_of_the_program(gate, kprof, added):
    """It is there now, a folder that is listed has one more, a link leads elsewhere: recorded again. It was ok."""
    folder = gate("python", "step.py", budget="{max_vgpr_allocated = 40}")
    (folder / "step.py").write_text(LOOKING)
    (folder / "configs").mkdir()
    for name, text in (("zero.json", "0"), ("large.json", "16384")):
        (folder / name).write_text(text)
        os.utime(folder / name, (1, 1))
    (folder / "link.json").symlink_to("zero.json")
    assert kprof("check").code == 0
    assert kprof("check").code == 0
    assert (folder / "runs.log").read_text().count("once") == 1
    if added == "link.json":
        (folder / added).unlink()
        (folder / added).symlink_to("large.json")
    else:
        (folder / added).write_text("BLOCK = 16384\n" if added == "tuned.py" else "16384")
    assert "over-budget" in kprof("check").out
