"""What a folder or a candidate could run where nothing may: beside the targets, which ``test_doors.py`` tries."""

import os
import subprocess
import sys
from pathlib import Path

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
    ("given", "allowed"),
    [
        (None, True), ("1", True), ("on", True), ("yes", True), ("true", True), ("YES", True),
        ("0", False), ("never", False), ("", False), ("2", False),
    ],
)  # fmt: skip
def test_only_a_clear_yes_allows(monkeypatch, given, allowed):
    """Where nothing is set, the user who names a file runs it; a word that is not known forbids."""
    monkeypatch.delenv(permission.VARIABLE, raising=False)
    if given is not None:
        monkeypatch.setenv(permission.VARIABLE, given)
    assert permission.is_allowed() is allowed


def test_a_file_of_others_is_refused_where_nothing_may_run(tmp_path, monkeypatch):
    """With what would be done and how it is allowed; kprof's own kernels run, and with permission everything does."""
    other, own = tmp_path / "k.py", permission.own_folder() / "softmax.py"
    monkeypatch.setenv("KPROF_ALLOW_RUN", "0")
    permission.require(own, "imported as Python")
    with pytest.raises(TargetError) as raised:
        permission.require(other, "imported as Python")
    assert raised.value.message == "would be imported as Python, but this kprof may not run user code"
    assert raised.value.path == str(other)
    assert raised.value.hint == (
        "Start the server with --allow-run, or unset KPROF_ALLOW_RUN. Compiled code is "
        "only read, so it needs no permission."
    )
    monkeypatch.setenv("KPROF_ALLOW_RUN", "1")
    permission.require(other, "imported as Python")


def test_folders_that_are_distrusted_leave_the_import_path(tmp_path, monkeypatch):
    """With what is below them and the current folder; not what was chosen or installed, nor kprof's own place."""
    checkout = permission.own_folder().parent
    below, named, beside = tmp_path / "root" / "package", tmp_path / "root" / "named", tmp_path / "beside"
    for folder in (below, named, beside):
        folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "root")
    monkeypatch.setenv("PYTHONPATH", f"{named}{os.pathsep}")
    stays = [str(checkout), str(named), str(beside), sys.prefix, sys.base_prefix]
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "root"), str(below), ".", *stays])
    permission.distrust([tmp_path / "root"])
    assert sys.path == stays
    permission.distrust([beside, tmp_path / "elsewhere"])
    assert sys.path == [str(checkout), str(named), sys.prefix, sys.base_prefix]
    # Everything of this machine: what is installed and kprof itself are left.
    permission.distrust([tmp_path, Path("/")])
    assert sys.path == [str(checkout), str(named), sys.prefix, sys.base_prefix]
    permission.distrust([])
    assert sys.path == [str(checkout), str(named), sys.prefix, sys.base_prefix]


def test_nothing_is_chosen_where_no_variable_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "library"), str(tmp_path)])
    permission.distrust([tmp_path / "library"])
    assert sys.path == [str(tmp_path)]


def test_the_bundled_kernels_are_found_in_a_wheel_and_a_checkout(tmp_path, monkeypatch):
    """A wheel's folder comes first; an installation without either says so."""
    monkeypatch.setattr(permission, "__file__", str(tmp_path / "kprof" / "importing" / "permission.py"))
    with pytest.raises(TargetError) as raised:
        permission.own_folder()
    assert raised.value.message == "the bundled kernels are missing"
    assert raised.value.path == str(tmp_path / "kprof")
    assert raised.value.hint == "install kprof again"
    assert permission.is_own(tmp_path / "softmax.py") is False
    for folder in (tmp_path / "kernels", tmp_path / "kprof" / "_kernels"):
        folder.mkdir(parents=True)
        (folder / "softmax.py").touch()
        assert permission.own_folder() == folder
        assert permission.is_own(folder / "softmax.py") is True


def test_a_path_that_cannot_be_one_is_not_own():
    assert permission.is_own("no\0path") is False


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
    assert os.environ["KPROF_ALLOW_RUN"] == "0"
    code = "from kprof.importing import permission; print(permission.is_allowed())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
