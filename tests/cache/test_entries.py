"""Entries: whole or absent, checked, of one key, readable by their user alone."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.cache import entries, limits, location
from kprof.cache.entries import CacheSection
from kprof.cache.keys import key
from tests.modules import executed_again

SECTION = CacheSection("things")
KEY = key("a thing")

WRITER = """
import sys
from pathlib import Path
from kprof.cache.entries import CacheSection
from kprof.cache.keys import key
root, number = Path(sys.argv[1]), int(sys.argv[2])
for turn in range(30):
    for name in range(3):
        assert CacheSection("things").write(key(name), [bytes([number]) * (1 << 16), bytes([turn])], root)
        data = CacheSection("things").read(key(name), root)
        assert data is not None and len(data) == (1 << 16) + 1 and len(set(data[:-1])) == 1
"""


def path_of(root: Path, name: str = KEY) -> Path:
    """The file of an entry."""
    return SECTION._path(root, name)


def test_what_was_written_is_read(tmp_path):
    """All the pieces as one, under their key only, and no partial file is left."""
    assert SECTION.write(KEY, [b"some ", b"\x00\xff"], tmp_path)
    assert SECTION.read(KEY, tmp_path) == b"some \x00\xff"
    assert SECTION.read(key("another"), tmp_path) is None
    assert CacheSection("things", 2).read(KEY, tmp_path) is None
    assert [p.name for p in path_of(tmp_path).parent.iterdir()] == [KEY]
    assert SECTION.write_json(KEY, {"a": [1, None]}, tmp_path)
    assert SECTION.read_json(KEY, tmp_path) == {"a": [1, None]}


def test_a_large_entry_takes_little_room(tmp_path):
    """It is compressed and read back as written; a damaged one is removed."""
    pieces = [b"tt.load %x : tensor<128x!tt.ptr<f16>>\n" * 30_000, b"\x00", b"end"]
    assert SECTION.write(KEY, pieces, tmp_path)
    stored = path_of(tmp_path).read_bytes()
    assert len(stored) < sum(map(len, pieces)) // 50
    assert SECTION.read(KEY, tmp_path) == b"".join(pieces)
    for damaged in (
        stored[:-1],
        stored + b"x",
        stored.replace(b"entry z", b"entry 2", 1),
        stored[:60] + b"?" + stored[61:],
    ):
        path_of(tmp_path).write_bytes(damaged)
        assert SECTION.read(KEY, tmp_path) is None
        assert not path_of(tmp_path).exists()


@pytest.mark.parametrize(("size", "kind"), [(1 << 20, b"kprof entry 2\n"), ((1 << 20) + 1, b"kprof entry z\n")])
def test_more_than_a_megabyte_is_compressed(tmp_path, size, kind):
    assert SECTION.write(KEY, [b"a" * size], tmp_path)
    assert path_of(tmp_path).read_bytes().startswith(kind)
    assert SECTION.read(KEY, tmp_path) == b"a" * size


def test_an_entry_that_says_it_is_compressed_and_is_not(tmp_path):
    """Its digest holds, its bytes do not: removed."""
    assert SECTION.write(KEY, [b"some bytes"], tmp_path)
    magic = b"kprof entry z\n"
    digest = hashlib.sha256(f"things-1/{KEY}\n".encode() + magic + b"some bytes").digest()
    path_of(tmp_path).write_bytes(magic + digest + b"some bytes")
    assert SECTION.read(KEY, tmp_path) is None
    assert not path_of(tmp_path).exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(data=st.data())
def test_a_damaged_entry_is_no_answer(tmp_path, data):
    """One bit turned, cut off or longer anywhere: not served, and removed."""
    content = data.draw(st.binary(max_size=64))
    SECTION.write(KEY, [content], tmp_path)
    raw = bytearray(path_of(tmp_path).read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    match data.draw(st.sampled_from(("bit", "cut", "longer"))):
        case "bit":
            raw[at] ^= 1 << data.draw(st.integers(0, 7))
        case "cut":
            del raw[at:]
        case _:
            raw += b"\0"
    path_of(tmp_path).write_bytes(raw)
    assert SECTION.read(KEY, tmp_path) is None
    assert not path_of(tmp_path).exists()


def test_an_entry_under_another_key_is_no_answer(tmp_path):
    """A whole file that was renamed, or belongs to another section, answers nothing."""
    SECTION.write(KEY, [b"x"], tmp_path)
    other = key("another")
    location.make_folder(path_of(tmp_path, other).parent)
    os.link(path_of(tmp_path), path_of(tmp_path, other))
    assert SECTION.read(other, tmp_path) is None
    foreign = CacheSection("others")
    location.make_folder(foreign._path(tmp_path, KEY).parent)
    os.link(path_of(tmp_path), foreign._path(tmp_path, KEY))
    assert foreign.read(KEY, tmp_path) is None
    assert SECTION.read(KEY, tmp_path) == b"x"


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "a/b", "..", "ä"])
def test_a_key_never_leads_out(tmp_path, name):
    """It may come from a file."""
    assert SECTION.read(name, tmp_path) is None
    assert not SECTION.write(name, [b"x"], tmp_path)


def test_what_a_bad_key_would_lead_to_is_left_alone(tmp_path):
    """It is neither read nor removed for being no entry."""
    SECTION.write(KEY, [b"x"], tmp_path)
    victim = SECTION._path(tmp_path, "../victim")
    victim.write_text("mine")
    assert SECTION.read("../victim", tmp_path) is None
    assert victim.read_text() == "mine"


def test_without_any_cache_nothing_is_read_or_written(monkeypatch):
    """As for a user without a home."""
    monkeypatch.setattr(location, "root", lambda: None)
    assert SECTION.read(KEY) is None
    assert not SECTION.write(KEY, [b"x"])


def test_trouble_is_told_of_the_user_s_own_cache_alone(tmp_path, monkeypatch):
    """Not of a root that is given."""
    told = []
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setattr(location, "check", lambda: told.append(True))
    SECTION.write(KEY, [b"x"], tmp_path)
    assert not told
    SECTION.write(KEY, [b"x"])
    assert told


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    """A cache below a file cannot exist; the work goes on without it."""
    (tmp_path / "file").write_text("")
    assert not SECTION.write(KEY, [b"x"], tmp_path / "file")
    assert SECTION.read(KEY, tmp_path / "file") is None


def test_reading_counts_as_use(tmp_path):
    """An entry that is served is not the next one to be swept."""
    SECTION.write(KEY, [], tmp_path)
    os.utime(path_of(tmp_path), (1, 1))
    SECTION.read(KEY, tmp_path)
    assert path_of(tmp_path).stat().st_mtime > 1


def test_writing_sweeps_all_sections(tmp_path, monkeypatch):
    """One limit for everything."""
    monkeypatch.setattr(limits, "_SWEEP_EVERY", 1)
    monkeypatch.setenv("KPROF_CACHE_SIZE", "2000")
    for number in range(20):
        CacheSection(f"things{number % 2}").write(key(number), [b"x" * 400], tmp_path)
    assert sum(p.stat().st_size for p in tmp_path.rglob("*") if p.is_file()) <= 2000


def test_nobody_else_can_write(tmp_path):
    """Folders 0700 and files 0600, whatever the umask."""
    before = os.umask(0)
    try:
        assert SECTION.write(KEY, [b"x"], tmp_path / "new" / "root")
    finally:
        os.umask(before)
    made = list((tmp_path / "new").rglob("*"))
    assert len(made) == 5
    assert {oct(p.stat().st_mode & 0o777) for p in (tmp_path / "new", *made)} == {"0o700", "0o600"}
    os.umask(0o377)
    try:
        assert SECTION.write(KEY, [b"y"], tmp_path / "closed")
        assert SECTION.read(KEY, tmp_path / "closed") == b"y"
    finally:
        os.umask(before)
    made = (tmp_path / "closed").rglob("*")
    assert {oct(p.stat().st_mode & 0o777) for p in made} == {"0o700", "0o600"}


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_write_is_not_believed(tmp_path, mode):
    """Whatever its checksum says."""
    SECTION.write(KEY, [b"x"], tmp_path)
    path_of(tmp_path).chmod(mode)
    assert SECTION.read(KEY, tmp_path) is None
    assert SECTION.write(KEY, [b"x"], tmp_path)
    assert SECTION.read(KEY, tmp_path) == b"x"


def test_what_others_own_is_not_believed(tmp_path, monkeypatch):
    """Root's files are, as in other programs that are careful; another user's are not."""
    SECTION.write(KEY, [b"x"], tmp_path)
    owner = path_of(tmp_path).stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert (SECTION.read(KEY, tmp_path) == b"x") is (owner == 0)
    monkeypatch.setattr(location, "_is_own", lambda status: status.st_uid == owner + 1)
    assert SECTION.read(KEY, tmp_path) is None


def test_a_pipe_is_not_waited_for(tmp_path):
    """Nor is a folder read."""
    location.make_folder(path_of(tmp_path).parent)
    os.mkfifo(path_of(tmp_path), 0o600)
    assert SECTION.read(KEY, tmp_path) is None
    path_of(tmp_path).unlink(missing_ok=True)
    path_of(tmp_path).mkdir()
    assert SECTION.read(KEY, tmp_path) is None
    assert not SECTION.write(KEY, [b"x"], tmp_path)
    assert not [p for p in path_of(tmp_path).parent.iterdir() if p.name.endswith(".part")]


@pytest.mark.slow
def test_many_writers_leave_the_cache_whole(tmp_path):
    """Twenty processes write the same three entries; every read is one of the values, and the last ones stay."""
    paths = os.pathsep.join(p for p in sys.path if p)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(number)], env={**os.environ, "PYTHONPATH": paths}
        )
        for number in range(20)
    ]
    assert [process.wait() for process in running] == [0] * 20
    files = [p for p in location.entries(tmp_path).rglob("*") if p.is_file()]
    assert sorted(p.name for p in files) == sorted(key(name) for name in range(3))
    for name in range(3):
        data = SECTION.read(key(name), tmp_path)
        assert data is not None
        assert len(set(data[:-1])) == 1


def test_a_disk_that_fills_up_leaves_nothing(tmp_path, monkeypatch):
    """Neither an entry nor half of one."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(entries.location, "make_private", full)
    assert not SECTION.write(KEY, [b"x"], tmp_path)
    assert not list(path_of(tmp_path).parent.iterdir())


def test_the_file_of_an_entry(tmp_path):
    """Its place and its bytes: two releases may share a cache, and neither may take the other's for its own."""
    assert SECTION.write(KEY, [b"some ", b"bytes"], tmp_path)
    path = tmp_path / "entries" / "things-1" / KEY[:2] / KEY
    digest = hashlib.sha256(f"things-1/{KEY}\nkprof entry 2\nsome bytes".encode()).digest()
    assert path.read_bytes() == b"kprof entry 2\n" + digest + b"some bytes"


def test_a_partial_file_is_hidden_from_readers_and_replaced_at_once(tmp_path, monkeypatch):
    """Its name says what it is; it is its user's alone from the beginning."""
    seen = []
    real = Path.replace

    def replace(source, target):
        seen.append((source.parent == target.parent, source.name, target.exists(), source.stat().st_mode & 0o777))
        return real(source, target)

    monkeypatch.setattr(Path, "replace", replace)
    before = os.umask(0)
    try:
        SECTION.write(KEY, [b"x"], tmp_path)
    finally:
        os.umask(before)
    ((beside, name, there, mode),) = seen
    assert (beside, there, mode) == (True, False, 0o600)
    assert re.fullmatch(r"\.[0-9a-f]{16}\.part", name)


def test_files_of_the_cache_are_opened_for_this_process_alone(tmp_path, monkeypatch):
    """A program that is started meanwhile does not get them; a new one must not be there; a pipe is not waited for."""
    asked = []
    real = os.open

    def opened(path, flags, mode=0o777):
        number = real(path, flags, mode)
        asked.append((flags, mode, os.get_inheritable(number)))
        return number

    monkeypatch.setattr(os, "open", opened)
    assert SECTION.write(KEY, [b"x"], tmp_path)
    assert SECTION.read(KEY, tmp_path) == b"x"
    (new, mode, given), (old, _, also) = asked
    assert new == os.O_WRONLY | os.O_CREAT | os.O_EXCL
    assert (mode, given, also) == (0o600, False, False)
    assert old == os.O_RDONLY | os.O_NONBLOCK


def test_without_a_root_it_is_the_user_s_cache(tmp_path, monkeypatch):
    """And a root that is given is the one, whatever the user's is."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "own"))
    assert SECTION.write(KEY, [b"own"])
    assert SECTION.write(KEY, [b"given"], tmp_path / "given")
    assert SECTION.read(KEY) == b"own"
    assert SECTION.read(KEY, tmp_path / "own") == b"own"
    assert SECTION.read(KEY, tmp_path / "given") == b"given"


def test_entries_are_opened_as_bytes_where_files_can_be_text(tmp_path, monkeypatch):
    """On Windows the runtime would change line ends, and the checksum would never hold; there is no ``O_NONBLOCK``."""
    asked = []
    monkeypatch.setattr(os, "O_BINARY", 0x8000, raising=False)
    monkeypatch.delattr(os, "O_NONBLOCK")
    there = executed_again(entries).CacheSection("things")
    real = os.open

    def opened(path, flags, mode=0o777):
        asked.append(flags)
        return real(path, flags & ~0x8000, mode)

    monkeypatch.setattr(os, "open", opened)
    assert there.write(KEY, [b"x"], tmp_path)
    assert there.read(KEY, tmp_path) == b"x"
    assert asked == [os.O_WRONLY | os.O_CREAT | os.O_EXCL | 0x8000, os.O_RDONLY | 0x8000]
