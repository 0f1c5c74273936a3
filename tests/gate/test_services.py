"""A repository whose program uses torch, on the steps that are shipped: fail, fail, ok, stale."""

import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.gate.services import ROOT, Ended, Machine, torch_and_triton

DEMONSTRATION = Path(__file__).with_name("demonstration")
pytestmark = [
    pytest.mark.triton,
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
    pytest.mark.skipif(find_spec("hatchling") is None, reason="kprof cannot be built: hatchling is not installed"),
    pytest.mark.skipif(not all(map(shutil.which, ("bash", "git"))), reason="bash or git is not installed"),
]
EDITS = {
    "larger tile": ("product.py", "BLOCK_K = 32", "BLOCK_K = 256"),
    "wider tile": ("product.py", "BLOCK_M = 128\nBLOCK_N = 128", "BLOCK_M = 256\nBLOCK_N = 256"),
    "moved lines": ("product.py", "@triton.jit", "# One tile a workgroup.\nVERSION = 2\n\n\n@triton.jit"),
}


class Demonstration:
    """The repository, and the services' ways to run its gate; what one recorded and compiled the other finds."""

    def __init__(self, folder: Path) -> None:
        self.machine = Machine(folder, folder / "work")
        self.root = self.machine.workspace / "kernels"
        self.cache = folder / "kprof-cache"
        shutil.copytree(DEMONSTRATION, self.root, ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / "requirements.txt").write_text("torch\n")
        self.git("init", "-q")

    def git(self, *arguments: str) -> None:
        identity = ("-c", "user.name=Someone", "-c", "user.email=someone@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(
            ["git", *identity, *arguments], cwd=self.machine.workspace, check=True, capture_output=True, timeout=60
        )

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.root / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def kprof(self, *arguments: str) -> Ended:
        """The installed program, in a clean environment."""
        program = self.machine.temp / "kprof-venv" / "bin" / "kprof"
        variables = {**self.machine.environment, "KPROF_CACHE_DIR": str(self.cache)}
        ran = subprocess.run(
            [program, *arguments],
            cwd=self.root,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
        )
        return Ended(ran.returncode, ran.stderr + ran.stdout)

    def everywhere(self, config: str) -> list[Ended]:
        """The gate on GitHub's steps and on GitLab's."""
        inputs = {"working-directory": "kernels", "config-file": config}
        variables = {
            "KPROF_DIRECTORY": "kernels",
            "KPROF_OPTIONS": f"--config-file {config}",
            "KPROF_VENV": str(self.machine.temp / "kprof-venv"),
            "KPROF_CACHE_DIR": str(self.cache),
        }
        return [
            self.machine.github(inputs, only="Check kernels"),
            self.machine.gitlab(variables, first=1),
        ]


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory):
    """Kprof installed by the action's own step, a baseline and a capture by its record step, all committed."""
    demo = Demonstration(tmp_path_factory.mktemp("service"))
    inputs = {
        "python": str(demo.machine.python),
        "triton": torch_and_triton(),
        "requirements": "requirements.txt",
        "working-directory": "kernels",
        "record": "\n--arch gfx942 -o captures/train -- python train.py\n",
    }
    installed = demo.machine.github(inputs, only="Install kprof")
    assert installed.code == 0, installed.text
    python = demo.machine.temp / "kprof-venv" / "bin" / "python"
    place = subprocess.run(
        [python, "-c", "import kprof; print(kprof.__file__)"], cwd=demo.root, capture_output=True, text=True, check=True
    )
    assert place.stdout.startswith(str(demo.machine.temp / "kprof-venv"))
    recorded = demo.machine.github(inputs, only="Record programs")
    assert recorded.code == 0, recorded.text
    for config in ("pyproject.toml", "by_capture.toml"):
        assert demo.kprof("check", "--config-file", config, "--update-baseline").code == 0
    demo.git("add", "-A")
    demo.git("commit", "-q", "-m", "A program, its capture and its gate")
    return demo


@pytest.fixture
def changed(demonstration):
    """The repository as it was committed, to be changed by a test."""
    yield demonstration
    demonstration.git("checkout", "-q", "--", ".")


def test_a_tile_that_cannot_be_launched_fails(changed):
    """BK 32 → 256 in a program that uses torch."""
    changed.edit(*EDITS["larger tile"])
    for ended in changed.everywhere("pyproject.toml"):
        assert ended.code == 1, ended.text
        assert "BK 32 → 256: cannot be launched; 16,384 → 131,072 B of LDS, gfx942 has 65,536" in ended.verdict


def test_a_tile_that_spills_fails(changed):
    """On the line that spills, in GitHub's annotations too."""
    changed.edit(*EDITS["wider tile"])
    github, gitlab = changed.everywhere("pyproject.toml")
    for ended in (github, gitlab):
        assert ended.code == 1, ended.text
        assert "VGPRs spilled, the baseline has 0" in ended.verdict
    assert github.outputs == {"verdict": "regression", "sarif": "kernels/kprof.sarif"}
    assert "::error file=kernels/product.py,line=" in github.text
    results = json.loads((changed.machine.workspace / github.outputs["sarif"]).read_text())["runs"][0]["results"]
    assert {"KP012"} <= {result["ruleId"] for result in results}
    assert (changed.machine.workspace / "gl-code-quality-report.json").stat().st_size > 10


def test_moved_lines_pass(changed):
    """The program is recorded again, and nothing is worse."""
    changed.edit(*EDITS["moved lines"])
    github, gitlab = changed.everywhere("pyproject.toml")
    for ended in (github, gitlab):
        assert ended.code == 0, ended.text
        assert ended.verdict.startswith("ok: 1 check, nothing is worse than the baseline")
    assert github.outputs["verdict"] == "ok"


def test_a_changed_source_of_a_capture_is_stale(changed):
    """Moved lines are enough: nobody knows what the program launches now. Both jobs fail."""
    assert changed.kprof("check", "--config-file", "by_capture.toml").code == 0
    changed.edit(*EDITS["moved lines"])
    github, gitlab = changed.everywhere("by_capture.toml")
    for ended in (github, gitlab):
        assert ended.code == 2, ended.text
        assert ended.verdict.startswith("stale: 1 of 2 checks could not be judged: captures/train on gfx942: ")
        assert ended.verdict.endswith(
            "product.py changed since it was recorded; record it again: "
            "kprof capture --arch gfx942 --force -o captures/train -- python train.py"
        )
    assert github.outputs["verdict"] == "cannot tell"


def test_gitlab_installs_by_its_own_script(changed):
    """The whole script, its package given as a path; words stay words."""
    variables = {
        "KPROF_PACKAGE": str(ROOT),
        "KPROF_TRITON": torch_and_triton(),
        "KPROF_REQUIREMENTS": "requirements.txt",
        "KPROF_PYTHON": str(changed.machine.python),
        "KPROF_VENV": str(changed.machine.temp / "another-venv"),
        "KPROF_DIRECTORY": "kernels",
        "KPROF_OPTIONS": "--config-file by_capture.toml",
        "KPROF_CACHE_DIR": str(changed.cache),
    }
    ended = changed.machine.gitlab(variables)
    assert ended.code == 0, ended.text
