"""Files that a program reads while it is recorded."""

import os
import time
from pathlib import Path

import pytest

from kprof.recording import files_read, files_sought
from kprof.recording.files_read import MOST_BYTES, Reads


def _opened(reads, path, flags=os.O_RDONLY):
    reads.opened("open", (path, None, flags))


@pytest.fixture
def reads():
    """Of a process that began a minute after now; watching, but with no hook."""
    made = Reads(began=time.time_ns() + 60 * 10**9)
    made._watching = True
    return made


def test_a_file_that_is_only_read_counts(tmp_path, reads, monkeypatch):
    """However its path is given, once."""
    (tmp_path / "tiles.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    for path in ("tiles.json", str(tmp_path / "tiles.json"), os.fsencode(tmp_path / "tiles.json")):
        _opened(reads, path)
    assert list(reads.files(tmp_path)) == [tmp_path / "tiles.json"]


@pytest.mark.parametrize("flags", [os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_RDONLY | os.O_CREAT])
def test_what_the_program_writes_does_not(tmp_path, reads, flags):
    """Before or after it has read it."""
    path = tmp_path / "log.txt"
    path.write_text("x")
    _opened(reads, str(path))
    _opened(reads, str(path), flags)
    assert list(reads.files(tmp_path)) == []


def test_a_file_of_this_run_does_not(tmp_path):
    """Somebody wrote it since: another process of the program, or a compiler."""
    reads = Reads()
    reads._watching = True
    path = tmp_path / "made.json"
    path.write_text("{}")
    os.utime(path, ns=(reads.began, reads.began))
    _opened(reads, str(path))
    assert list(reads.files(tmp_path)) == []
    os.utime(path, ns=(reads.began - 1, reads.began - 1))
    assert list(reads.files(tmp_path)) == [path]


@pytest.mark.parametrize(("more", "count"), [(0, 1), (1, 0)])
def test_a_large_file_is_data(tmp_path, reads, more, count):
    """Weights decide no tile."""
    path = tmp_path / "weights.bin"
    path.write_bytes(b"x" * (MOST_BYTES + more))
    _opened(reads, str(path))
    assert len(list(reads.files(tmp_path))) == count


@pytest.mark.parametrize("name", [".env", "sub/.tiles.json"])
def test_a_hidden_file_is_one_of_the_program_s(tmp_path, reads, name):
    """Settings stand in such, and tiles with them."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("TIMES=16")
    _opened(reads, str(path))
    assert list(reads.files(tmp_path)) == [path]


@pytest.mark.parametrize("name", [".cache/a.json", "pkg/__pycache__/a.json", "capture/a.json", "gone.json"])
def test_what_is_not_the_programs(tmp_path, reads, name):
    """Hidden folders, compiled modules, the capture itself, what is not there any more; and the machine's files."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name != "gone.json":
        path.write_text("{}")
    for one in (str(path), "/etc/hostname", "/proc/self/status"):
        _opened(reads, one)
    assert list(reads.files(tmp_path, [str(tmp_path / "capture")])) == []


@pytest.mark.parametrize(
    "place", ["/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/lib64", "/opt", "/run", "/var/lib"]
)
def test_the_machine_s_files_are_not_the_program_s(tmp_path, reads, place):
    """Looked for or read; those of a folder whose name only begins the same are."""
    reads.sought.missing.update({f"{place}/none.json": None, f"{place}x/none.json": None})
    assert list(reads.absent(tmp_path)) == [Path(f"{place}x/none.json")]


@pytest.mark.parametrize("prefix", [True, False])
def test_a_work_tree_in_a_folder_of_the_machine_is_the_program_s(tmp_path, reads, monkeypatch, prefix):
    """Below ``/usr/src`` or ``/var/lib/jenkins``, or beside the ``bin`` of a virtual environment: no file counted."""
    if prefix:
        monkeypatch.setattr(files_read.sys, "prefix", str(tmp_path))
    else:
        monkeypatch.setattr(files_read, "_SYSTEM", (str(tmp_path.parent),))
    for name in ("tiles.json", "venv/a.json", "lib/site-packages/a.json", "../beside.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
        _opened(reads, str(path))
    monkeypatch.setattr(files_read.sys, "base_prefix", str(tmp_path / "venv"))
    beside = [tmp_path.parent / "beside.json"] if prefix else []
    assert list(reads.files(tmp_path)) == [tmp_path / "tiles.json", *beside]


def test_more_files_than_are_kept_are_told(monkeypatch, reads):
    """Those opened first are kept. Python's own compiled modules, thousands, take no room."""
    monkeypatch.setattr(files_read, "_LIMIT", 3)
    for name in ("/a", "/p/__pycache__/b.pyc", "/c"):
        _opened(reads, name)
    assert not reads.full
    _opened(reads, "/d", os.O_WRONLY)
    assert reads.full
    _opened(reads, "/e")
    _opened(reads, "/f", os.O_WRONLY)
    assert (list(reads.read), reads.written) == (["/a", "/c"], {"/d"})


def test_as_many_files_as_the_guide_says(reads):
    """``docs/ci.md``: files up to 1 MiB, and the first 10,000."""
    assert MOST_BYTES == 1_048_576
    for number in range(9_999):
        _opened(reads, f"/{number}")
    assert not reads.full
    _opened(reads, "/last")
    assert reads.full


def test_more_questions_than_are_kept_are_told(monkeypatch, reads):
    """Too."""
    monkeypatch.setattr(files_sought, "LIMIT", 1)
    assert not reads.full
    reads.sought.modules["tuned"] = None
    assert reads.full


@pytest.mark.parametrize("packages", ["site-packages", "dist-packages"])
def test_data_of_packages(tmp_path, reads, packages):
    """What was read or looked for; no code, nothing of an installer's, nothing that was written or is large."""
    site = tmp_path / "lib" / packages
    names = (
        *("p/a.json", "p/b.py", "p/b.pyc", "p/b.so", "p/__pycache__", "top.json", "p/large", "p/late", "p/own"),
        *("p-1.dist-info/a", "p.egg-info/a", "p-1.data/a"),
    )
    for name in names:
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * (MOST_BYTES + (name == "p/large")))
        reads.read[str(path)] = None
    os.utime(site / "p/late", ns=(reads.began, reads.began))
    reads.written.add(str(site / "p/own"))
    reads.read[str(tmp_path / "elsewhere.json")] = None
    reads.sought.missing[str(site / "q/none.json")] = None
    assert reads.packaged() == ([str(site / "p/a.json")], ["q/none.json"])


@pytest.mark.parametrize("arguments", [(3, "r", 0), (None, "r", 0), ("a\0b", "r", None), ()])
def test_odd_events_raise_nothing(reads, arguments):
    """What the hook raises is raised in the program."""
    reads.opened("open", arguments)
    assert list(reads.files(Path.cwd())) == []


def test_nothing_counts_before_and_after(tmp_path):
    """The audit hook stays in the process."""
    path = tmp_path / "tiles.json"
    path.write_text("{}")
    reads = Reads(began=time.time_ns() + 10**9)
    path.read_text()
    reads.watch()
    reads.end()
    path.read_text()
    assert list(reads.files(tmp_path)) == []


def test_the_hook_sees_what_python_opens(tmp_path):
    """In every way that Python has."""
    paths = [tmp_path / name for name in ("a.json", "b.json", "c.json")]
    for path in paths:
        path.write_text("{}")
    reads = Reads(began=time.time_ns() + 10**9)
    reads.watch()
    with open(paths[0], encoding="utf-8") as file:  # noqa: PTH123 - the way that is tested
        file.read()
    os.close(os.open(paths[1], os.O_RDONLY))
    paths[2].read_bytes()
    reads.end()
    assert list(reads.files(tmp_path)) == paths
