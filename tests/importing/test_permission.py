"""What a folder or a candidate could run where nothing may: beside the targets, which ``test_doors.py`` tries."""

import subprocess
import sys

import pytest

from kprof import children
from kprof.api.oracle import oracle
from kprof.errors import TargetError
from kprof.importing import permission
from kprof_servers.served.lookup import ServerCode, ask

WORKERS = ("compiler.worker", "tuning.trials.serve", "bench.worker", "api.live.worker", "api.live.candidates")


@pytest.mark.parametrize("name", WORKERS)
def test_no_worker_imports_from_the_current_folder(tmp_path, monkeypatch, name):
    """``python -c`` looks there first: a ``json.py`` of a cloned repository would run in each of them."""
    marker = tmp_path / "ran"
    (tmp_path / "json.py").write_text(f"open({str(marker)!r}, 'w').close()")
    monkeypatch.chdir(tmp_path)
    worker = children.PythonWorker(f"kprof.{name}", "0", "cold", log=True)
    worker.end(patience=30)
    assert not marker.exists()
    subprocess.run([sys.executable, "-c", "import json"], cwd=tmp_path, check=True)
    assert marker.exists()


def test_no_candidate_runs_where_nothing_may(monkeypatch):
    """A candidate is code of others."""
    monkeypatch.setenv(permission.VARIABLE, "0")
    with pytest.raises(TargetError, match="the candidate: would be compiled and run in the interpreter"):
        oracle("", "softmax")


def test_judges_have_the_decision(monkeypatch):
    """Their case is imported by themselves, with an environment of their own."""
    from kprof.api.live.judges import _environment

    monkeypatch.setenv(permission.VARIABLE, "0")
    assert _environment("compile")[permission.VARIABLE] == "0"


def test_no_servers_code_runs_where_nothing_may(tmp_path, monkeypatch):
    """A server's lookup is its own Python."""
    monkeypatch.setenv(permission.VARIABLE, "0")
    with pytest.raises(TargetError, match="would be imported as a server's Python"):
        ask(ServerCode(tmp_path, "unknown"), (), device="MI300X", arch="gfx942", triton="3.9.0")


@pytest.mark.parametrize(
    ("given", "allowed"), [(None, True), ("1", True), ("on", True), ("0", False), ("never", False)]
)
def test_only_a_clear_yes_allows(monkeypatch, given, allowed):
    """Where nothing is set, the user who names a file runs it; a word that is not known forbids."""
    monkeypatch.delenv(permission.VARIABLE, raising=False)
    if given is not None:
        monkeypatch.setenv(permission.VARIABLE, given)
    assert permission.is_allowed() is allowed


def test_what_is_own(tmp_path):
    """The bundled kernels, also through a link, and no other file of that name."""
    (tmp_path / "softmax.py").touch()
    (tmp_path / "link.py").symlink_to(permission.own_folder() / "softmax.py")
    assert permission.is_own(permission.own_folder() / "softmax.py")
    assert permission.is_own(tmp_path / "link.py")
    assert not permission.is_own(tmp_path / "softmax.py")


def test_forbidding_is_for_children_too(monkeypatch):
    """Through the environment."""
    monkeypatch.setenv(permission.VARIABLE, "1")
    permission.forbid()
    code = "from kprof.importing import permission; print(permission.is_allowed())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
