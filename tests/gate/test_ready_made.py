"""The GitHub Action, the GitLab template and the pre-commit hook: their commands are run as the services would."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@pytest.fixture
def program(tmp_path):
    """A folder with ``bin/kprof``, as an installation has it."""
    path = tmp_path / "kprof-venv" / "bin" / "kprof"
    path.parent.mkdir(parents=True)
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}:{ROOT / "analyzers"}" exec "{sys.executable}" -m kprof "$@"\n')
    path.chmod(0o755)
    return path


def bash(script, folder, **variables):
    """Run a script as GitHub's ``shell: bash`` does."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def action():
    """The composite action."""
    return yaml.safe_load((ROOT / "action.yml").read_text())


def test_every_input_of_the_action_is_used_and_every_used_one_declared():
    """No input is forgotten, and none reaches a script except through the environment."""
    steps = action()["runs"]["steps"]
    text = (ROOT / "action.yml").read_text()
    for name in action()["inputs"]:
        assert f"inputs.{name}" in text.split("runs:")[1]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 2
    for script in scripts:
        assert "${{" not in script
        assert bash(f"set -n\n{script}", ROOT).returncode == 0


@pytest.mark.triton
def test_action_fails_on_a_regression(repository, program, tmp_path):
    """Exit code, output variables, job summary, annotations and SARIF."""
    (script,) = [step["run"] for step in action()["runs"]["steps"] if step.get("id") == "check"]
    variables = {
        "RUNNER_TEMP": tmp_path,
        "GITHUB_OUTPUT": tmp_path / "output",
        "GITHUB_STEP_SUMMARY": tmp_path / "summary",
        "KPROF_CONFIG_FILE": "",
        "KPROF_ARCH": "gfx942",
        "KPROF_SARIF": "kprof.sarif",
        "KPROF_MARKDOWN": "",
    }
    assert bash(f'"{program}" check --update-baseline', repository.root).returncode == 0
    ran = bash(script, repository.root, **variables)
    assert ran.returncode == 0, ran.stderr
    assert "verdict=ok\nsarif=kprof.sarif\n" in (tmp_path / "output").read_text()
    repository.edit("start + offsets", "start + offsets * stride")
    ran = bash(script, repository.root, **variables)
    assert ran.returncode == 1
    assert "::error file=kernels/scale.py,line=12," in ran.stdout
    assert (tmp_path / "output").read_text().endswith("verdict=regression\nsarif=kprof.sarif\n")
    assert "kernels/scale.py:12" in (tmp_path / "summary").read_text()
    assert json.loads((repository.root / "kprof.sarif").read_text())["runs"][0]["results"]


@pytest.mark.triton
def test_gitlab_job_writes_what_it_promises(repository, program):
    """Each file that the job keeps is there after its script has run."""
    job = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text())[".kprof-check"]
    check = job["script"][-1].replace("/tmp/kprof-venv/bin/kprof", f'"{program}"')
    ran = bash(check, repository.root, KPROF_OPTIONS="--arch gfx942")
    assert ran.returncode == 2  # there is no baseline yet
    assert job["allow_failure"]["exit_codes"] == 2
    for path in [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values()]:
        assert (repository.root / path).stat().st_size > 0


@pytest.mark.triton
def test_hook_runs_where_it_is_installed(repository, program):
    """The hook's entry needs no file names and gives the gate's exit code."""
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    assert hook["pass_filenames"] is False
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    assert bash(f"{hook['entry']} --update-baseline && {hook['entry']}", repository.root, PATH=path).returncode == 0
    repository.edit("start + offsets", "start + offsets * stride")
    ran = bash(hook["entry"], repository.root, PATH=path)
    assert ran.returncode == 1
    assert "KP103" in ran.stdout


def test_hook_for_configurations_takes_file_names(tmp_path, program):
    """The second hook is given the files that its pattern matches, and fails on a mistake in one."""
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[1]
    name = "gfx942-GEMM-A16W16.json"
    assert re.search(hook["files"], f"configs/{name}")
    assert re.search(hook["files"], "E=8,N=128,device_name=AMD_Instinct_MI300X.json")
    assert not re.search(hook["files"], "package.json")
    (tmp_path / name).write_text('{"any": {"num_warps": 4,}}')
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    ran = bash(f"{hook['entry']} {name}", tmp_path, PATH=path)
    assert ran.returncode == 1
    assert "KP701" in ran.stdout
