"""What is only read is never run: each kind of target through each door, where code of others may not run."""

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from kprof.api.live.reach import Reach
from kprof.api.live.session import Session
from kprof.errors import KprofError, TargetError
from kprof.importing import permission
from kprof.options.tools import AgentOptions
from kprof.targets.target import resolve
from tests.api.live.view.conftest import ASSEMBLY

EVIL = """
from pathlib import Path
Path({marker!r}).write_text("ran")
import triton, triton.language as tl

@triton.jit
def fn(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * 2.0)
"""

RUN_BY_NAME = ("evil.py", "link.py", "package/kernel.py", "./evil.py", "sub/../evil.py", "evil.hip")
"""Targets that kprof would run, or give to a compiler, where that is allowed."""

NEVER_RUN = (
    "notes.txt", "k.amdgcn", "k.s", "k.hsaco", "k.PY", "k.pyc", "k.pyw", "noext", "link.txt", "report.json",
    "folder.py", "package", "capture", "kprof.toml", ".", "evil", "package.kernel", "evil.py/", "k.ttir", "data.csv",
)  # fmt: skip
"""Targets whose names do not say Python: they are read, or refused."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of files that leave a marker when any of them is run, which is the current one."""
    root = tmp_path / "root"
    (root / "package").mkdir(parents=True)
    (root / "sub").mkdir()
    (root / "folder.py").mkdir()
    (root / "capture").mkdir()
    text = EVIL.format(marker=str(tmp_path / "ran"))
    names = ["evil.py", "notes.txt", "k.amdgcn", "k.s", "k.hsaco", "k.PY", "k.pyc", "k.pyw", "noext", "report.json",
             "package/__init__.py", "package/kernel.py", "folder.py/__main__.py", "folder.py/__init__.py",
             "capture/capture.json", "capture/evil.py", "kprof.toml", "k.ttir", "data.csv", "evil.hip", "triton.py",
             "torch.py", "sitecustomize.py", "conftest.py"]  # fmt: skip
    for name in names:
        (root / name).write_text(text)
    (root / "link.py").symlink_to("notes.txt")
    (root / "link.txt").symlink_to("evil.py")
    monkeypatch.chdir(root)
    monkeypatch.setenv(permission.VARIABLE, "0")
    return root


def ran(root: Path) -> bool:
    """Whether any of the files was run."""
    return (root.parent / "ran").exists()


@pytest.mark.parametrize("function", ["", "::fn", "::KERNEL", "::"])
@pytest.mark.parametrize("name", [*RUN_BY_NAME, *NEVER_RUN])
def test_what_would_run_is_known_before_anything_is_read(place, name, function):
    """A property of the resolved target: Python and HIP by their suffix alone, whatever else is in the name."""
    try:
        would_run = resolve(f"{name}{function}").would_run
    except KprofError:
        would_run = None
        assert name not in RUN_BY_NAME or (function and name.endswith(".hip"))
    else:
        assert (would_run is not None) == (name in RUN_BY_NAME)
    assert not ran(place)


@pytest.mark.parametrize("name", ["notes.txt::fn", "k.amdgcn::fn", "k.PY::fn", "noext::fn", "./notes.txt::fn"])
def test_a_function_of_a_file_that_is_no_python_is_refused(tmp_path, monkeypatch, kprof, name):
    """Also where code may run: a suffix is what says that a file is a program."""
    marker = tmp_path / "ran"
    for file in ("notes.txt", "k.amdgcn", "k.PY", "noext"):
        (tmp_path / file).write_text(EVIL.format(marker=str(marker)))
    monkeypatch.chdir(tmp_path)
    answer = kprof("analyze", "kernel", name, "--signature", "*fp32", "--constexpr", "BLOCK=64")
    assert (answer.code, marker.exists()) == (2, False)
    assert "is not a Python file, so it is not imported" in answer.err


COMMANDS = (
    ("analyze", "kernel", "TARGET"),
    ("analyze", "kernel", "TARGET", "--signature", "*fp32", "--constexpr", "BLOCK=64"),
    ("analyze", "kernel", "TARGET", "--", "argument"),
    ("advise", "TARGET", "--budget", "1"),
    ("bench", "TARGET", "--check-only"),
    ("draw", "flow", "TARGET", "-o", "-"),
    ("check", "--config", "TARGET"),
    ("diff", "TARGET", "TARGET"),
    ("lint", "TARGET"),
    ("occupancy", "TARGET"),
    ("oracle", "TARGET", "--reference", "softmax", "--timeout", "1"),
    ("report", "TARGET", "-o", "page.html"),
    ("select", "TARGET"),
    ("tune", "TARGET", "--budget", "1"),
    ("capture", "--force", "-o", "recorded", "--", "TARGET"),
    ("profile", "--", "TARGET"),
    ("ingest", "mlir", "TARGET"),
    ("ingest", "trace", "TARGET"),
    ("ingest", "counters", "TARGET"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_no_command_runs_anything_without_permission(place, kprof, command):
    """Each target as it stands and with a function: an answer or exit code 2, and no marker."""
    for name in (*RUN_BY_NAME, *NEVER_RUN):
        for target in (name, f"{name}::fn"):
            answer = kprof(*(target if word == "TARGET" else word for word in command))
            assert answer.code in {0, 1, 2}, (command, target, answer.err)
            assert not ran(place), (command, target)


@pytest.mark.parametrize(
    "program", [["python", "evil.py"], [sys.executable, "-c", "open('../ran','w')"], ["sh", "-c", "touch ../ran"]]
)
def test_no_program_is_started_without_permission(place, kprof, program):
    """With the interpreter, code on the command line, or a shell."""
    for command in (["capture", "--force", "-o", "recorded", "--"], ["profile", "--"]):
        answer = kprof(*command, *program)
        assert answer.code == 2
        assert "this kprof may not run user code" in answer.err
        assert not ran(place)


def test_every_tool_for_agents_refuses_what_would_run(place):
    """Through the tools themselves, with a session behind them that refuses once more."""
    pytest.importorskip("mcp", reason="the MCP SDK is not installed")
    from mcp.server.mcpserver.exceptions import ToolError

    from kprof.api.live.mcp_server import Tools

    def refused(target: str, name: str) -> bool:
        more = {"old": {}, "new": {}} if name == "compare" else {}
        try:
            result = asyncio.run(getattr(tools, name)(target=target, **more))
        except ToolError:
            return True
        return bool(result.is_error)

    with Session(jobs=1) as session:
        tools = Tools(session, Reach((place.resolve(),)))
        for name in ("analyze", "compare", "advise", "rank", "occupancy"):
            for target in (*RUN_BY_NAME, "notes.txt", "k.amdgcn", "folder.py"):
                assert refused(f"{target}::fn", name), (name, target)
                assert not ran(place), (name, target)


@pytest.mark.triton
def test_a_session_refuses_what_a_door_has_let_through(place):
    """The worker asks again: this target was never shown to the server's own check."""
    with Session(jobs=1) as session, pytest.raises(KprofError, match="this kprof may not run user code"):
        session.submit(
            "analyze", target=str(place / "evil.py::fn"), signature="*fp32", constexpr={"BLOCK": 64}
        ).result()
    assert not ran(place)


def test_a_server_without_permission_forbids_it_for_all_its_processes(place, monkeypatch):
    """And takes its folders off the import path: a triton.py of theirs must not be imported as Triton."""
    from kprof.api.live import serving

    pytest.importorskip("mcp", reason="the MCP SDK is not installed")
    seen = {}
    monkeypatch.delenv(permission.VARIABLE)
    monkeypatch.setattr(sys, "path", ["", str(place), *sys.path])
    monkeypatch.setattr(
        "kprof.api.live.mcp_server.serve",
        lambda *_: seen.update(allowed=permission.is_allowed(), path=list(sys.path)),
    )
    try:
        serving.serve(AgentOptions(folder=[str(place)]))
        assert seen["allowed"] is False
        assert not [entry for entry in seen["path"] if Path(entry or ".").resolve() == place.resolve()]
    finally:
        os.environ.pop(permission.VARIABLE, None)
    serving.serve(AgentOptions(folder=[str(place)], allow_run=True))
    assert seen["allowed"] is True


def test_bundled_kernels_may_always_run(monkeypatch):
    """They are kprof's own; a link in their place is not."""
    monkeypatch.setenv(permission.VARIABLE, "0")
    permission.require(permission.own_folder() / "softmax.py", "imported as Python")
    assert resolve("softmax").would_run is None
    assert resolve("gemm_streamk::anything").would_run is None


def test_a_link_to_a_bundled_kernel_is_own_and_a_neighbour_is_not(tmp_path, monkeypatch):
    """What counts is where the file is, with links followed."""
    monkeypatch.setenv(permission.VARIABLE, "0")
    shutil.copy(permission.own_folder() / "softmax.py", tmp_path / "softmax.py")
    with pytest.raises(TargetError, match="would be imported as Python"):
        permission.require(tmp_path / "softmax.py", "imported as Python")
    (tmp_path / "inside").symlink_to(permission.own_folder() / "softmax.py")
    permission.require(tmp_path / "inside", "imported as Python")
    assert not permission.is_own("\0")


@pytest.mark.parametrize(("value", "allowed"), [(None, True), ("1", True), ("0", False), ("off", False), ("No", False)])
def test_the_environment_decides(monkeypatch, value, allowed):
    """Unset means allowed: the command line runs what its user names."""
    monkeypatch.delenv(permission.VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(permission.VARIABLE, value)
    assert permission.is_allowed() is allowed


def test_forbidding_reaches_children(monkeypatch):
    """Through the environment, which every process that is started inherits."""
    monkeypatch.setenv(permission.VARIABLE, "1")
    permission.forbid()
    assert os.environ[permission.VARIABLE] == "0"
    assert not permission.is_allowed()


def test_what_is_read_is_still_answered(tmp_path, monkeypatch, kprof):
    """Assembly needs no permission."""
    monkeypatch.setenv(permission.VARIABLE, "0")
    shutil.copy(ASSEMBLY, tmp_path / "k.amdgcn")
    answer = kprof("analyze", "kernel", tmp_path / "k.amdgcn", "--json", "-")
    assert answer.code == 0
    assert json.loads(answer.out[answer.out.index("{") :])["kernels"]
