"""Processes that end with the one that started them, however that ends."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])}
CHILD = "import time; from kprof.children import end_with_parent; end_with_parent(every=0.05); time.sleep(60)"
PARENT = f"""
import signal, subprocess, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], start_new_session=True)
print(child.pid, flush=True)
child.wait()
"""
ENDLESS = """
import triton
import triton.language as tl

@triton.jit
def endless(out):
    total = 0
    for _ in tl.static_range(1 << 40):
        total += 1
    tl.store(out, total)
"""


def gone(pid: int) -> bool:
    """Whether a process has ended; it may not have been waited for."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def ends(pid: int, seconds: float) -> bool:
    """Whether a process ends within some seconds; it is killed otherwise."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if gone(pid):
            return True
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_child_ends_with_its_parent(how: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(0.5)
        assert not gone(child), "it stays while its parent does"
        parent.send_signal(how)
        assert ends(child, 30)


@pytest.mark.triton
def test_a_worker_ends_in_the_middle_of_a_compile(tmp_path: Path) -> None:
    """What is killed, or loses its terminal, leaves no compile behind that goes on by itself."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    signature = ["--signature", "*i32", "--arch", "gfx942"]
    command = [sys.executable, "-m", "kprof", "analyze", "kernel", f"{tmp_path}/endless.py::endless", *signature]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as parent:
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        if not children.parent.is_dir():
            parent.kill()
            pytest.skip("this system does not list a process's children")
        deadline = time.monotonic() + 60
        while not (found := children.read_text().split()) and time.monotonic() < deadline:
            time.sleep(0.1)
        (worker,) = map(int, found)
        # Long enough to be compiling.
        time.sleep(4)
        assert not gone(worker)
        parent.kill()
        assert ends(worker, 30)


TIED = """
import signal, subprocess, sys
from kprof import children
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
child = children.popen(["sleep", "60"], start_new_session=True)
print(child.pid, flush=True)
child.wait()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends a child with its parent")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGHUP])
def test_a_program_that_is_not_ours_ends_with_its_parent(how: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", TIED], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(0.2)
        assert not gone(child)
        parent.send_signal(how)
        assert ends(child, 10)


def descendants(pid: int) -> list[int]:
    """Every process below one."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(word) for word in task.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


@pytest.mark.triton
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGHUP])
@pytest.mark.parametrize("command", ["diff", "capture"])
def test_no_command_leaves_a_process(tmp_path: Path, command: str, how: signal.Signals) -> None:
    """The processes of a comparison in the middle of a compile, and the program of a capture with its own."""
    if not Path(f"/proc/{os.getpid()}/task").is_dir():
        pytest.skip("this system does not list a process's children")
    (tmp_path / "endless.py").write_text(ENDLESS)
    (tmp_path / "program.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(60)\n")
    kernel, signature = f"{tmp_path}/endless.py::endless", ["--signature", "*i32", "--arch", "gfx942"]
    arguments = {
        "diff": ["diff", kernel, kernel, *signature],
        "capture": ["capture", "-o", str(tmp_path / "c"), "--", sys.executable, str(tmp_path / "program.py")],
    }[command]
    with subprocess.Popen(
        [sys.executable, "-m", "kprof", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509 - nohup ignores it
    ) as parent:
        deadline = time.monotonic() + 60
        while not descendants(parent.pid) and time.monotonic() < deadline:
            time.sleep(0.1)
        # Long enough to be at work.
        time.sleep(2)
        below = descendants(parent.pid)
        assert below
        parent.send_signal(how)
        assert [pid for pid in below if not ends(pid, 20)] == []


LATE = """
import os, sys, time
from kprof.children import end_with_parent
end_with_parent(int(sys.argv[1]), every=0.05)
time.sleep(60)
"""


def test_a_child_that_begins_after_its_parent_has_ended_ends() -> None:
    """It has another parent by then, which stays what it is."""
    with subprocess.Popen([sys.executable, "-c", "pass"]) as parent:
        pass
    with subprocess.Popen([sys.executable, "-c", LATE, str(parent.pid)], env=ENVIRONMENT) as child:
        assert child.wait(30) == -signal.SIGKILL
    with subprocess.Popen([sys.executable, "-c", LATE, str(os.getpid())], env=ENVIRONMENT) as child:
        time.sleep(1)
        assert child.poll() is None
        child.kill()


AT_THE_END = """
import atexit, os, sys, time
from kprof.children import end_with_parent, fork

def compile():
    this = os.getpid()
    copy = fork()
    if copy == 0:
        end_with_parent(this, every=0.05)
        print("copy", os.getpid(), flush=True)
        time.sleep(60 if "long" in sys.argv else 0)
        os._exit(3)
    print("waited", os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), flush=True)

atexit.register(compile)
"""


def test_a_program_that_ends_can_be_copied() -> None:
    """Python 3.12 refuses a fork there, and a thread."""
    command = [sys.executable, "-c", AT_THE_END]
    ended = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert re.fullmatch(r"copy \d+\nwaited 3\n", ended.stdout), ended.stderr


def test_such_a_copy_ends_with_the_program() -> None:
    """By the kernel where no thread can look."""
    command = [sys.executable, "-c", AT_THE_END, "long"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as program:
        assert program.stdout is not None
        copy = int(program.stdout.readline().split()[1])
        program.kill()
        assert ends(copy, 5)


def test_every_process_is_started_in_one_place() -> None:
    """What starts one by itself leaves it behind when kprof is killed."""
    started = re.compile(r"subprocess\.(run|Popen|call|check_call|check_output)\(|os\.(system|popen|posix_spawn|spawn)")
    files = [path for name in ("kprof", "analyzers", "servers") for path in (ROOT / name).rglob("*.py")]
    assert len(files) > 300

    assert [path.name for path in files if started.search(path.read_text())] == ["children.py"]
