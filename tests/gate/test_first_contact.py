"""The gate's first files, and what it says of a program that is named as a kernel."""

import json
import subprocess
from pathlib import Path

import pytest

from kprof import origin
from kprof.errors import KprofError
from kprof.gate import first_files
from kprof.gate.config import load
from kprof.gate.first_files import Found, config_text, find_targets, workflow_text
from kprof.importing.launches import launches_kernels

PROGRAM = """
import sys
import torch, triton, triton.language as tl

@triton.jit
def scale(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, at < n) * 2, at < n)

if __name__ == "__main__":
    x = torch.empty(4096, device="cuda")
    scale[(4,)](x, torch.empty_like(x), 4096, B=1024)
"""
FUNCTION = PROGRAM.partition("if __name__")[0]
TOML = 'arch = ["gfx942"]\nbaseline = "base.json"\n[[kernel]]\ntarget = "scale.py"\n'


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_are_told_by_their_text(here):
    (here / "app.py").write_text(PROGRAM)
    (here / "lib.py").write_text(FUNCTION)
    (here / "own.py").write_text("import triton\nfrom kprof import Kernel\nKERNEL = Kernel()\n")
    (here / "other.py").write_text("table = {}\ntable['x'](1)\n")
    (here / "broken.py").write_text("import triton (\n")
    for folder in (".hidden", "venv"):
        (here / folder).mkdir()
        (here / folder / "app.py").write_text(PROGRAM)
    found = find_targets(here)
    assert found == Found(["own.py"], ["app.py"], ["lib.py"])
    assert launches_kernels(here / "app.py")
    assert not launches_kernels(here / "lib.py")
    assert not launches_kernels(here / "broken.py")
    (here / "kprof.toml").write_text(config_text(found, ["MI300X", "gfx950"]))
    settings = load(here / "kprof.toml")
    assert [one.target for one in settings.kernel] == ["own.py"]
    assert [one.command for one in settings.program] == [["python", "app.py"]]
    assert settings.arch == ["MI300X", "gfx950"]


def test_nothing_to_check_is_an_error(here):
    (here / "lib.py").write_text(FUNCTION)
    with pytest.raises(KprofError, match="no file here has a KERNEL") as told:
        find_targets(here)
    assert "lib.py has only functions" in (told.value.hint or "")


def test_the_workflow_is_yaml_that_runs_the_check():
    yaml = pytest.importorskip("yaml")
    read = yaml.safe_load(workflow_text())
    *_, install, check, comment = read["jobs"]["kernels"]["steps"]
    assert install["run"].startswith('pip install "kprof @ ')
    assert check == {"run": "kprof check --github --markdown comment.md"}
    assert "gh pr comment" in comment["run"]
    assert "--body-file comment.md" in comment["run"]
    assert read["permissions"] == {"contents": "read", "pull-requests": "write"}


def test_the_workflow_names_no_package_that_is_on_no_index(monkeypatch):
    """Kprof comes from the repository that it was installed from, or from the address in a variable."""
    monkeypatch.setattr(first_files, "kprof_address", lambda: None)
    text = workflow_text()
    assert '"kprof @ $KPROF"' in text
    assert "KPROF: ${{ vars.KPROF }}" in text
    monkeypatch.setattr(first_files, "kprof_address", lambda: "git+https://host/owner/kprof@abc")
    text = workflow_text()
    assert '"kprof @ git+https://host/owner/kprof@abc"' in text
    assert "vars.KPROF" not in text


def test_the_address_is_that_of_the_checkout(monkeypatch, tmp_path):
    """A cloned checkout has the address of its remote repository; a folder without one has none."""

    class Installed:
        def read_text(self, _name):
            return json.dumps({"url": tmp_path.as_uri(), "dir_info": {"editable": True}})

    monkeypatch.setattr(origin, "distribution", lambda _name: Installed())
    assert first_files.kprof_address() is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"],
                  ["remote", "add", "origin", "https://host/owner/kprof"]):  # fmt: skip
        subprocess.run([*git, *words], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    assert first_files.kprof_address() == f"git+https://host/owner/kprof@{head}"


@pytest.mark.triton
def test_a_program_as_a_kernel_gets_a_block_to_paste(here, kprof):
    """The block takes the place of the entry: then the check has a verdict."""
    pytest.importorskip("torch")
    (here / "scale.py").write_text(PROGRAM)
    (here / "kprof.toml").write_text(TOML)
    ran = kprof("check")
    assert ran.code == 2
    block = [line.strip() for line in ran.out.splitlines() if line.strip().startswith(("[[", "command"))]
    assert block == ["[[program]]", 'command = ["python", "scale.py"]']
    assert "--signature" not in ran.out
    accepted = kprof("check", "--update-baseline")
    assert accepted.code == 2
    assert "base.json: not written: none of 1 check could be determined" in accepted.out
    assert not (here / "base.json").exists()
    (here / "kprof.toml").write_text(f"{TOML.partition('[[')[0]}{chr(10).join(block)}\n")
    assert kprof("check", "--update-baseline").code == 0
    assert len(json.loads((here / "base.json").read_text())["kernels"]) == 1


@pytest.mark.triton
def test_a_function_gets_the_keys_of_its_launch(here, kprof):
    (here / "scale.py").write_text(FUNCTION)
    (here / "kprof.toml").write_text(TOML)
    out = kprof("check").out
    assert 'signature = "x=TYPE, y=TYPE, n=TYPE"' in out
    assert "constexpr = { B = VALUE }" in out


@pytest.mark.triton
def test_init_writes_all_that_a_check_needs(here, kprof):
    pytest.importorskip("torch")
    (here / "scale.py").write_text(PROGRAM)
    ran = kprof("check", "--init", "--arch", "gfx942")
    assert ran.code == 0
    assert [Path(name).exists() for name in ("kprof.toml", "kprof-baseline.json", ".github/workflows/kprof.yml")] == [
        True
    ] * 3
    assert kprof("check").code == 0
    again = kprof("check", "--init")
    assert again.code == 2
    assert "there is a configuration already" in again.err


@pytest.mark.triton
def test_the_first_line_is_the_command(here, kprof):
    (here / "scale.py").write_text(PROGRAM)
    ran = kprof("analyze", "kernel", "scale.py")
    assert ran.code == 2
    assert ran.err.splitlines()[0] == "kprof: run it: kprof analyze kernel scale.py --"
