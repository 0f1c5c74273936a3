"""GitHub and GitLab as far as kprof's steps need them: shell steps are run as written, in a clean environment."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_CONDITION = re.compile(r"inputs\.([\w-]+) (==|!=) '(.*)'")


def action() -> dict[str, Any]:
    """The composite action."""
    return yaml.safe_load((ROOT / "action.yml").read_text())


def template() -> dict[str, Any]:
    """The GitLab job."""
    return yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text())[".kprof-check"]


def torch_and_triton() -> str:
    """What is installed here, as words for pip; the test is skipped where pip refuses both together.

    A CUDA build of torch asks for one release of Triton, which was replaced here.
    """
    here = version("triton")
    pins = [word for word in requires("torch") or () if re.match(r"triton\b", word)]
    if any(not Requirement(pin).specifier.contains(here) for pin in pins):
        pytest.skip(f"the torch here asks for {pins[0]}, and {here} is installed")
    return f"triton=={here} torch"


@dataclass(frozen=True)
class Ended:
    """How a job ended.

    Attributes:
        code: of the step that failed, else of the last one.
        text: all that was printed.
        outputs: what steps set.
    """

    code: int
    text: str
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The last line of the check that is none of the service's commands."""
        return [line for line in self.text.splitlines() if line.strip() and not line.startswith("::")][-1]


@dataclass(frozen=True)
class Machine:
    """A machine of a service, whose Python is this one with what is installed here.

    Attributes:
        temp: the folder that the service gives to jobs.
        workspace: the checkout.
    """

    temp: Path
    workspace: Path

    @property
    def python(self) -> Path:
        """As a machine's ``python3``. Its virtual environments find what is installed here: pip needs no index."""
        path = self.temp / "python3"
        places = {Path(str(find_spec(name).origin)).parents[1] for name in ("triton", "torch", "hatchling", "typer")}
        found = "\n".join(map(str, places))
        path.write_text(
            f'#!/bin/sh\nset -e\nif [ "$2" = venv ]; then set -- "$@" --without-pip; fi\n'
            f'{shlex.quote(sys.executable)} "$@"\n'
            f'if [ "$2" = venv ]; then for d in "$3"/lib/python3*/site-packages; do\n'
            f'printf "%s\\n" {shlex.quote(found)} > "$d/host.pth"; done; fi\n'
        )
        path.chmod(0o755)
        return path

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of this process's own but where programs are."""
        home = self.temp / "home"
        home.mkdir(exist_ok=True)
        offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", **offline}

    def github(self, inputs: Mapping[str, str], *, only: str = "") -> Ended:
        """The action's steps, as far as they are shell; the steps up to one that fails.

        Args:
            inputs: as under ``with``.
            only: the one step to run, by name; all when empty.
        """
        output = self.temp / "output"
        output.write_text("")
        known = {f"inputs.{name}": about["default"] for name, about in action()["inputs"].items()}
        known |= {f"inputs.{name}": value for name, value in inputs.items()}
        known |= {
            "runner.temp": str(self.temp),
            "runner.os": "Linux",
            "github.sha": "0",
            "github.action_path": str(ROOT),
        }
        base = {
            **self.environment,
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary"),
        }
        text, code = "", 0
        for step in action()["runs"]["steps"]:
            if "run" not in step or (only and step["name"] != only) or not _applies(step.get("if"), known):
                continue
            variables = {name: _filled(value, known) for name, value in step.get("env", {}).items()}
            folder = self.workspace / _filled(step.get("working-directory", "."), known)
            ran = bash(step["run"], folder, {**base, **variables})
            # What a recorded program says goes to standard error; the verdict is the last line of standard output.
            text += ran.stderr + ran.stdout
            code = ran.returncode
            if code:
                break
        return Ended(code, text, dict(line.split("=", 1) for line in output.read_text().splitlines()))

    def gitlab(self, variables: Mapping[str, str], *, first: int = 0) -> Ended:
        """The job's script.

        Args:
            variables: the job's own.
            first: of the script's entries, the first one to run.
        """
        base = {**self.environment, "CI_PROJECT_DIR": str(self.workspace)}
        for name, value in {**template()["variables"], **variables}.items():
            base[name] = re.sub(r"\$(\w+)", lambda found: base.get(found[1], ""), value)
        # A runner joins the entries into one shell that ends with the first failure.
        ran = bash("\n".join(template()["script"][first:]), self.workspace, base)
        return Ended(ran.returncode, ran.stderr + ran.stdout)


def bash(script: str, folder: Path, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run a script as GitHub's ``shell: bash`` does."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        command, cwd=folder, env=dict(environment), capture_output=True, text=True, check=False, timeout=500
    )


def _filled(text: str, known: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda found: known[found[1]], text)


def _applies(condition: str | None, known: Mapping[str, str]) -> bool:
    if condition is None:
        return True
    found = _CONDITION.fullmatch(condition)
    assert found is not None, condition
    return (known[f"inputs.{found[1]}"] == found[3]) == (found[2] == "==")


def fake_installation(folder: Path, *more: Path) -> Path:
    """``kprof-venv/bin/kprof`` in a folder, as an installation has it, without installing.

    Args:
        folder: where.
        more: folders in which more is installed.
    """
    path = folder / "kprof-venv" / "bin" / "kprof"
    path.parent.mkdir(parents=True)
    places = os.pathsep.join((str(ROOT), str(ROOT / "analyzers"), *map(str, more)))
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{places}" exec "{sys.executable}" -m kprof "$@"\n')
    path.chmod(0o755)
    return path
