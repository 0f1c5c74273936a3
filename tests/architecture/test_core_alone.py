"""The core runs without the package of servers' tuned files; what that brings then says what to install."""

import json
import os
import subprocess
import sys

import pytest

from tests.architecture.conftest import PACKAGES, ROOT

BLOCK = "import sys\nsys.modules['kprof_servers'] = None\n"
"""As Python has a package that cannot be imported."""
NOT_INSTALLED = "needs the package kprof_servers, which is not installed: install kprof again"


def _alone(code: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    paths = os.pathsep.join(str(folder.parent) for name, folder in PACKAGES.items() if name != "kprof_servers")
    environment = {**os.environ, "PYTHONPATH": paths, "COLUMNS": "160"}
    return subprocess.run(
        [sys.executable, "-c", BLOCK + code, *arguments], env=environment, capture_output=True, text=True, check=False
    )


def _kprof(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return _alone("from kprof.cli.app import main\nmain()", *arguments)


def test_no_core_module_imports_it(graph) -> None:
    """Import every module of the core with the package blocked."""
    core = [name for name in sorted(graph.modules) if not name.startswith("kprof_servers")]
    code = "import importlib\nfor name in sys.argv[1:]: importlib.import_module(name)\nprint(len(sys.argv))"
    ran = _alone(code, *(name for name in core if not name.endswith("__main__")))
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 900


@pytest.mark.parametrize("name", ["configs", "lint"])
def test_a_command_that_is_not_there_says_what_to_install(name: str) -> None:
    """One line, and exit code 2."""
    ran = _kprof(name, "config.json")
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", f"kprof: {name} {NOT_INSTALLED}\n")


def test_a_schema_and_a_function_say_the_same() -> None:
    """The public function is an attribute that is not there, as ``hasattr`` takes it."""
    assert f"server-configs {NOT_INSTALLED}" in _kprof("schema", "server-configs").stderr
    code = "import kprof\nprint(hasattr(kprof, 'lint_configs'), hasattr(kprof, 'analyze'))\nkprof.server_configs"
    ran = _alone(code)
    assert ran.stdout == "False True\n"
    assert ran.stderr.splitlines()[-1].startswith(f"AttributeError: server_configs {NOT_INSTALLED}")


def test_the_core_s_commands_run() -> None:
    """Help, a kernel, and the rules, without those of configuration files."""
    listed = _kprof("--help")
    assert listed.returncode == 0, listed.stderr
    assert "configs" not in listed.stdout
    assert " analyze " in listed.stdout
    kernel = ROOT / "tests/artifacts/gfx942/scaled_exp.triton-3.9.0.amdgcn"
    ran = _kprof("analyze", "kernel", str(kernel), "--json", "-")
    assert len(json.loads(ran.stdout)["kernels"]) == 1, ran.stderr
    rules = _kprof("list", "rules")
    assert "KP101" in rules.stdout, rules.stderr
    assert len(rules.stdout.splitlines()) > 40
