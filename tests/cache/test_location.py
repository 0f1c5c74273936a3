"""Where the cache is, and what is said when there is none."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kprof.cache import location
from kprof.cache.entries import CacheSection
from kprof.cache.keys import key


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(location, "_state", location._State())
    location.trouble.cache_clear()


def test_place_follows_the_environment(monkeypatch, tmp_path):
    """KPROF_CACHE_DIR first, then XDG_CACHE_HOME, then the home."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))
    assert location.root() == tmp_path
    monkeypatch.setenv("KPROF_CACHE_DIR", "relative")
    assert location.root() == Path.cwd() / "relative"
    monkeypatch.delenv("KPROF_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert location.root() == Path("/x/kprof")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    if sys.platform == "linux":
        assert location.root() == tmp_path / ".cache" / "kprof"
    assert location.root().is_absolute()


def test_a_user_without_a_home_has_no_cache(monkeypatch, caplog):
    """Said once, however often something would be kept; nothing appears in the working directory."""
    for name in ("KPROF_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert location.root() is None
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            assert not CacheSection("things").write(key(number), [b"x"])
            assert CacheSection("things").read(key(number)) is None
    (said,) = caplog.messages
    assert "no home folder" in said
    assert "KPROF_CACHE_DIR" in said
    assert not Path("~").exists()


def test_a_place_that_cannot_be_made_is_said_once(monkeypatch, tmp_path, caplog):
    """With what is in the way."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "file" / "below"))
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            assert not CacheSection("things").write(key(number), [b"x"])
    (said,) = caplog.messages
    assert str(tmp_path / "file") in said


def test_a_place_that_cannot_be_written_is_said_and_still_read(monkeypatch, tmp_path, caplog):
    """As a cache that an image brings along."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))
    assert CacheSection("things").write(key(1), [b"x"])
    location.trouble.cache_clear()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with caplog.at_level(logging.WARNING):
        location.check()
        location.check()
    (said,) = caplog.messages
    assert "cannot be written to" in said
    assert CacheSection("things").read(key(1)) == b"x"


def test_a_folder_of_another_user_is_refused(monkeypatch, tmp_path):
    """Nothing that is in it would be believed."""
    monkeypatch.setattr(location, "_is_own", lambda _: False)
    assert "belongs to another user" in (location.trouble(tmp_path) or "")


def test_whose_files_are_believed(monkeypatch):
    """This user's and root's, when nobody else may write to them."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    def file(owner, mode):
        return os.stat_result((mode, 1, 1, 1, owner, 1000, 1, 1, 1, 1))

    assert [location.trusted(file(owner, 0o100644)) for owner in (1000, 0, 1001)] == [True, True, False]
    assert [location.trusted(file(1000, mode)) for mode in (0o100600, 0o100620, 0o100602)] == [True, False, False]


def test_a_home_that_is_not_resolved_is_none(monkeypatch):
    """As older releases of platformdirs leave it."""
    for name in ("KPROF_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *_, **__: Path("~/.cache/kprof"))
    assert location.root() is None


def test_a_folder_that_is_open_is_closed(tmp_path):
    """It is this user's; what others have put there is theirs and not believed."""
    folder = location.entries(tmp_path)
    location.make_folder(folder)
    folder.chmod(0o777)
    assert location.trouble(tmp_path) is None
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_worker_says_nothing(monkeypatch, tmp_path, caplog):
    """What it prints is taken for the compiler's."""
    monkeypatch.setenv("KPROF_CACHE_DIR", os.devnull)
    location.silence()
    with caplog.at_level(logging.WARNING):
        assert not CacheSection("things").write(key(1), [b"x"])
    assert not caplog.messages


def test_a_recorded_program_is_told_where_it_is(monkeypatch, tmp_path):
    """Its Python may be another one, with nothing but Triton in it."""
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    monkeypatch.delenv("KPROF_CACHE_DIR", raising=False)
    location.settle(tmp_path)
    assert CacheSection("things").write(key(1), [b"x"])
    assert location.entries(tmp_path).is_dir()
    location.settle(None)
    assert location.root() is None
    assert CacheSection("things").read(key(1)) is None


def test_the_command_works_without_a_cache_and_says_so_in_one_line(tmp_path):
    """On standard error; the answer is the same."""
    artifact = min((Path(__file__).parents[1] / "artifacts" / "gfx942").glob("*.amdgcn"))
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "kernel.amdgcn").write_bytes(artifact.read_bytes())

    def run(cache: str) -> tuple[int, str, str]:
        paths = os.pathsep.join(p for p in sys.path if p)
        ran = subprocess.run(
            [sys.executable, "-m", "kprof", "diff", str(tmp_path / "one"), str(tmp_path / "one")],
            env={**os.environ, "KPROF_CACHE_DIR": cache, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )
        return ran.returncode, ran.stdout, ran.stderr

    code, out, err = run(str(tmp_path / "cache"))
    assert (code, err) == (0, "")
    said = f"kprof: nothing is kept in the cache: {os.devnull}: File exists; KPROF_CACHE_DIR names another folder\n"
    assert run(os.devnull) == (0, out, said)


def test_words_for_each_trouble(monkeypatch, tmp_path):
    """What it is, where, and what to do."""
    (tmp_path / "file").write_text("")
    below = tmp_path / "file" / "c"
    assert location.trouble(None) == "this user has no home folder; KPROF_CACHE_DIR names another folder"
    assert location.trouble(below) == f"{tmp_path}/file: File exists; KPROF_CACHE_DIR names another folder"
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or path != location.entries(tmp_path / "c"))
    found = location.trouble(tmp_path / "c")
    assert found == f"{tmp_path}/c/entries cannot be written to; KPROF_CACHE_DIR names another folder"
    monkeypatch.setattr(location, "_is_own", lambda _: False)
    found = location.trouble(tmp_path / "d")
    assert found == f"{tmp_path}/d/entries belongs to another user; KPROF_CACHE_DIR names another folder"


def test_a_folder_and_those_above_it_are_made_once(tmp_path):
    """What is there keeps its mode; a file in the way is an error, another process that was first is none."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    location.make_folder(tmp_path / "open" / "a" / "b")
    modes = [oct((tmp_path / name).stat().st_mode & 0o777) for name in ("open", "open/a", "open/a/b")]
    assert modes == ["0o755", "0o700", "0o700"]
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        location.make_folder(tmp_path / "file")


def test_another_process_was_first(tmp_path, monkeypatch):
    """Between the look and the making."""
    real = Path.mkdir

    def mkdir(path, *arguments, **others):
        real(path, *arguments, **others)
        raise FileExistsError

    monkeypatch.setattr(Path, "mkdir", mkdir)
    location.make_folder(tmp_path / "a")
    assert (tmp_path / "a").is_dir()


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o722])
def test_every_way_in_is_closed(tmp_path, mode):
    """For the group and for all others; what others may only read stays as it is."""
    folder = location.entries(tmp_path)
    location.make_folder(folder)
    folder.chmod(mode)
    assert location.trouble(tmp_path) is None
    assert folder.stat().st_mode & 0o777 == 0o700
    location.trouble.cache_clear()
    folder.chmod(0o755)
    assert location.trouble(tmp_path) is None
    assert folder.stat().st_mode & 0o777 == 0o755


def test_what_a_process_begins_with():
    """It warns, and looks for the place itself."""
    assert location._State() == location._State(silent=False, settled=False, root=None)


def test_it_is_said_once_and_in_one_sentence(monkeypatch):
    """By a logger, which prints to standard error unless the program that uses kprof has another mind."""
    said = []
    monkeypatch.setattr(logging.getLogger("kprof"), "warning", lambda text, *words: said.append(text % words))
    monkeypatch.setenv("KPROF_CACHE_DIR", os.devnull)
    location.check()
    location.check()
    assert said == [
        f"kprof: nothing is kept in the cache: {os.devnull}: File exists; KPROF_CACHE_DIR names another folder"
    ]
    location._state.silent = False
    location.settle(None)
    location.check()
    assert len(said) == 1


def test_an_empty_variable_is_none(monkeypatch, tmp_path):
    """As a job sets it that has nothing to say."""
    monkeypatch.setenv("KPROF_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert location.root() == tmp_path / "kprof"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, *, appauthor: tmp_path / name / str(appauthor))
    assert location.root() == tmp_path / "kprof" / "False"


def test_the_umask_does_not_matter(tmp_path):
    """Neither an open nor a closed one."""
    for mask in (0, 0o777):
        before = os.umask(mask)
        try:
            location.make_folder(tmp_path / f"{mask}" / "below")
            descriptor = os.open(tmp_path / f"file{mask}", os.O_CREAT | os.O_RDWR, 0o666)
            location.make_private(descriptor)
            os.close(descriptor)
        finally:
            os.umask(before)
        assert (tmp_path / f"{mask}" / "below").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / f"file{mask}").stat().st_mode & 0o777 == 0o600
