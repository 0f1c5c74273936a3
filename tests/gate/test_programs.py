"""Programs that the check itself records."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.gate.config import Program

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
    assert Program(command=["python", "a b.py"]).entry().target == "python 'a b.py'"
    assert Program(command=["python", "x.py"], name="step").entry().target == "step"


@pytest.mark.triton
def test_a_program_is_recorded_again_only_when_a_file_of_it_changes(gate, kprof):
    """A module that it imports counts, a file beside it does not; what it prints is kept out of the document."""
    folder = gate(sys.executable, "step.py", name='"step"', budget="{max_vgpr_spills = 0}")
    (folder / "step.py").write_text(PROGRAM)
    (folder / "tile.py").write_text("BLOCK = 1024\n")
    command = [sys.executable, "-m", "kprof", "check", "--json", "-"]
    paths = os.pathsep.join((str(ROOT), str(ROOT / "analyzers")))
    ran = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False, timeout=300
    )
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
