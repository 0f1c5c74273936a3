"""The GitHub Action, the GitLab template and the pre-commit hook: their commands are run as the services would."""

import json
import os
import re
import shutil

import pytest
import yaml

from tests.gate.services import ROOT, Machine, action, bash, fake_installation, template

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@pytest.fixture
def program(tmp_path):
    """A folder with ``bin/kprof``, as an installation has it."""
    return fake_installation(tmp_path)


@pytest.fixture
def ends(tmp_path):
    """Puts a ``kprof`` there that only ends, with an exit code of choice."""

    def make(code, lines=()):
        path = tmp_path / "kprof-venv" / "bin" / "kprof"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(["#!/bin/sh", *lines, f"exit {code}"]) + "\n")
        path.chmod(0o755)
        (tmp_path / "work" / "sub").mkdir(parents=True, exist_ok=True)
        return Machine(tmp_path, tmp_path / "work")

    return make


def test_every_input_of_the_action_is_used_and_every_used_one_declared():
    """No input is forgotten, and none reaches a script except through the environment."""
    steps = action()["runs"]["steps"]
    text = (ROOT / "action.yml").read_text().split("runs:")[1]
    for name in action()["inputs"]:
        assert f"inputs.{name}" in text
    for name in re.findall(r"inputs\.([\w-]+)", text):
        assert name in action()["inputs"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 3
    for script in scripts:
        assert "${{" not in script
        assert script.startswith("set -eo pipefail\n")
        assert bash(f"set -n\n{script}", ROOT, os.environ).returncode == 0
    for script in template()["script"]:
        assert script.startswith("set -eo pipefail\n")
        assert bash(f"set -n\n{script}", ROOT, os.environ).returncode == 0


def test_actions_of_others_are_pinned_by_commit():
    """A tag can be moved to other code, a commit cannot; the tag stands behind it, for people and for updates."""
    workflows = (ROOT / ".github" / "workflows").glob("*.yml")
    files = [ROOT / "action.yml", ROOT / "README.md", *workflows, *(ROOT / "docs").rglob("*.md")]
    lines = [
        (path.name, line.strip())
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(- )?uses: ", line) and "OWNER/kprof" not in line
    ]
    assert {name for name, _ in lines} >= {"action.yml", "ci.md", "release.yml", "report.md"}
    pinned = re.compile(r"(- )?uses: [\w-]+/[\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+")
    assert [line for line in lines if not pinned.fullmatch(line[1])] == []


@pytest.mark.parametrize(
    ("code", "verdict"), [(0, "ok"), (1, "regression"), (2, "cannot tell"), (70, "defect"), (130, "defect")]
)
def test_only_ok_passes(ends, code, verdict):
    """A stale capture, what cannot be determined and a defect of kprof fail both jobs as shipped."""
    machine = ends(code)
    ran = machine.github({}, only="Check kernels")
    assert (ran.code, ran.outputs["verdict"]) == (code, verdict)
    assert machine.gitlab({"KPROF_VENV": str(machine.temp / "kprof-venv")}, first=1).code == code
    assert "allow_failure" not in template()


@pytest.mark.parametrize(("code", "job"), [(0, 0), (1, 1), (2, 0), (70, 70)])
def test_what_cannot_be_told_may_be_let_pass(ends, code, job):
    """Only when the job says so, only exit code 2, and with a warning."""
    ran = ends(code).github({"cannot-tell": "allow"}, only="Check kernels")
    assert ran.code == job
    assert ("::warning" in ran.text) == (code == 2)


@pytest.mark.parametrize(
    ("directory", "sarif", "output"),
    [
        (".", "kprof.sarif", "kprof.sarif"),
        ("sub", "kprof.sarif", "sub/kprof.sarif"),
        ("./sub/", "kprof.sarif", "sub/kprof.sarif"),
        ("sub", "", ""),
    ],
)
def test_the_sarif_output_is_from_the_workspace(ends, directory, sarif, output):
    """The next step finds the file whatever the working directory; without a file there is no path."""
    machine = ends(1, ["touch kprof.sarif"] if sarif else ())
    ran = machine.github({"working-directory": directory, "sarif": sarif}, only="Check kernels")
    assert ran.outputs["sarif"] == output
    if output:
        assert (machine.workspace / output).is_file()
        gone = ends(70).github({"working-directory": directory, "sarif": sarif}, only="Check kernels")
        assert gone.outputs["sarif"] == ""


def test_words_for_pip_stay_words(ends, tmp_path):
    """``triton==3.9.0 torch`` is two requirements; each requirements file has its own ``-r``."""
    machine = ends(0)
    said = tmp_path / "said"
    python = tmp_path / "python"
    (tmp_path / "inner").write_text(f'#!/bin/sh\nfor word in "$@"; do echo "[$word]"; done >> {said}\n')
    (tmp_path / "inner").chmod(0o755)
    python.write_text(f'#!/bin/sh\nmkdir -p "$3/bin"\ncp {tmp_path / "inner"} "$3/bin/python"\n')
    python.chmod(0o755)
    words = "[-m]\n[pip]\n[install]\n[--quiet]\n[{}]\n[triton==3.9.0]\n[torch]\n[-r]\n[a.txt]\n[-r]\n[b.txt]\n"
    inputs = {"triton": "triton==3.9.0 torch", "requirements": "a.txt b.txt", "python": str(python)}
    assert machine.github(inputs, only="Install kprof").code == 0
    assert said.read_text() == words.format(ROOT)
    said.unlink()
    variables = {
        "KPROF_PACKAGE": "git+https://host/owner/kprof@v1",
        "KPROF_TRITON": "triton==3.9.0 torch",
        "KPROF_REQUIREMENTS": "a.txt b.txt",
        "KPROF_PYTHON": str(python),
        "KPROF_VENV": str(tmp_path / "venv"),
    }
    machine.gitlab(variables)
    assert said.read_text() == words.format("git+https://host/owner/kprof@v1")


def test_gitlab_says_where_kprof_is_to_come_from(ends):
    """There is no name on an index to fall back on."""
    ran = ends(0).gitlab({})
    assert ran.code == 2
    assert "Set KPROF_PACKAGE" in ran.text


def test_a_recording_that_fails_ends_the_job(ends):
    """On both services, before anything is checked; quoted words stay together."""
    machine = ends(3, ['if [ "$1" = check ]; then exit 0; fi', 'printf "<%s>" "$@"'])
    line = "\n-o one -- python 'train it.py'\n-o two -- python other.py\n"
    ran = machine.github({"record": line}, only="Record programs")
    assert ran.code != 0
    assert ran.text.startswith("<capture><--force><--no-execute><-o><one><--><python><train it.py>")
    assert "<two>" not in ran.text
    ran = machine.gitlab({"KPROF_RECORD": line, "KPROF_VENV": str(machine.temp / "kprof-venv")}, first=1)
    assert ran.code != 0
    assert "<train it.py>" in ran.text


@pytest.mark.triton
def test_action_fails_on_a_regression(repository, program, tmp_path):
    """Exit code, output variables, job summary, annotations and SARIF."""
    machine = Machine(tmp_path, repository.root)
    assert bash(f'"{program}" check --update-baseline', repository.root, os.environ).returncode == 0
    ran = machine.github({"arch": "gfx942"}, only="Check kernels")
    assert (ran.code, ran.outputs) == (0, {"verdict": "ok", "sarif": "kprof.sarif"}), ran.text
    repository.edit("start + offsets", "start + offsets * stride")
    ran = machine.github({"arch": "gfx942"}, only="Check kernels")
    assert (ran.code, ran.outputs) == (1, {"verdict": "regression", "sarif": "kprof.sarif"})
    assert "::error file=kernels/scale.py,line=12," in ran.text
    assert "kernels/scale.py:12" in (tmp_path / "summary").read_text()
    assert json.loads((repository.root / "kprof.sarif").read_text())["runs"][0]["results"]


def matched(text):
    """What GitHub makes of a program's lines, by the matchers: file, line, severity, rule."""
    found = []
    for matcher in json.loads((ROOT / "ci" / "problem-matcher.json").read_text())["problemMatcher"]:
        (pattern,) = matcher["pattern"]
        for line in text.splitlines():
            match = re.match(pattern["regexp"], line)
            if match is not None:
                severity = match[pattern["severity"]] if "severity" in pattern else matcher["severity"]
                found.append((match[pattern["file"]], int(match[pattern["line"]]), severity, match[pattern["code"]]))
    return found


def test_the_problem_matcher_takes_a_check_s_lines(tmp_path, monkeypatch, kprof):
    """Every finding with a line, once; neither the verdict nor an annotation."""
    source = ROOT / "tests" / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn"
    (tmp_path / "k.amdgcn").write_bytes(source.read_bytes())
    (tmp_path / "kprof.toml").write_text('arch = ["gfx942"]\n[[kernel]]\ntarget = "k.amdgcn"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    ran = kprof("check", "--no-color", "--json", "out.json")
    findings = [f for k in json.loads((tmp_path / "out.json").read_text())["kernels"] for f in k["findings"]]
    expected = [
        (f["location"]["file"], f["location"]["line"], f["severity"], f["rule"])
        for f in findings
        if f["severity"] == "error"
    ]
    assert expected
    assert matched(ran.out) == expected
    assert matched("::error file=k.py,line=3::x\nregression: 1 of 1 check fail: k on gfx942: 3 VGPRs spilled\n") == []
    assert matched("k.py:12:5: KP301 12 VGPRs spilled\n") == [("k.py", 12, "warning", "KP301")]


@pytest.mark.triton
def test_gitlab_job_writes_what_it_promises(repository, program, tmp_path):
    """Each file that the job keeps is there after its script has run, even when it fails."""
    variables = {"KPROF_OPTIONS": "--arch gfx942", "KPROF_VENV": str(tmp_path / "kprof-venv")}
    ran = Machine(tmp_path, repository.root).gitlab(variables, first=1)
    assert ran.code == 2  # there is no baseline yet
    job = template()
    for path in [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values()]:
        assert (repository.root / path).stat().st_size > 0


@pytest.mark.triton
def test_hook_runs_where_it_is_installed(repository, program):
    """The hook's entry needs no file names and gives the gate's exit code."""
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    assert hook["pass_filenames"] is False
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    assert (
        bash(
            f"{hook['entry']} --update-baseline && {hook['entry']}", repository.root, {**os.environ, "PATH": path}
        ).returncode
        == 0
    )
    repository.edit("start + offsets", "start + offsets * stride")
    ran = bash(hook["entry"], repository.root, {**os.environ, "PATH": path})
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
    ran = bash(f"{hook['entry']} {name}", tmp_path, {**os.environ, "PATH": path})
    assert ran.returncode == 1
    assert "KP701" in ran.stdout
