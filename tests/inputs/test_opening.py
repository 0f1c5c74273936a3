"""Opening files from outside: never a pipe, a device or a folder, and a link only where links are followed."""

import os
from errno import EACCES

import pytest

from kprof.errors import InputError
from kprof.inputs import boundary, opening
from kprof.inputs.opening import head_of, mapped, opened, unlisted
from tests.modules import executed_again


@pytest.fixture
def pipe(tmp_path):
    """A named pipe that nobody writes to: opening it the plain way waits for ever."""
    path = tmp_path / "pipe.py"
    os.mkfifo(path)
    return path


def test_a_plain_file(tmp_path):
    """By all ways."""
    path = tmp_path / "f"
    path.write_bytes(b"content")
    with opened(path) as file:
        assert file.read() == b"content"
    assert head_of(path, 3) == b"con"
    assert bytes(mapped(path)) == b"content"
    assert boundary.content_of(path, 7) == b"content"
    assert boundary.content_of(path, 6) is None


def test_a_pipe_and_a_device_are_refused_at_once(pipe):
    """In words, or as a file that is not there."""
    for path in (pipe, "/dev/zero"):
        with pytest.raises(InputError, match="is not a file"):
            opened(path)
        assert head_of(path, 3) == b""
        assert boundary.content_of(path, 1 << 20) is None
        with pytest.raises(InputError, match="is not a file"):
            mapped(path)


def test_a_folder_and_nothing(tmp_path):
    """As the operating system says it."""
    with pytest.raises(IsADirectoryError):
        opened(tmp_path)
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "none")
    assert head_of(tmp_path, 3) == head_of(tmp_path / "none", 3) == head_of("a\0b", 3) == b""
    with pytest.raises(InputError, match="cannot be read"):
        mapped(tmp_path / "none")


def test_what_is_said(tmp_path, pipe):
    """The operating system's words, and the place."""
    for path, message in (
        (tmp_path / "none", "cannot be read: No such file or directory"),
        (tmp_path, "cannot be read: Is a directory"),
        (pipe, "is not a file"),
    ):
        with pytest.raises(InputError) as error:
            mapped(path)
        assert (error.value.message, error.value.path) == (message, str(path))
    (tmp_path / "empty").touch()
    with pytest.raises(InputError) as error:
        mapped(tmp_path / "empty")
    assert error.value.message == "cannot be read: cannot mmap an empty file"
    with pytest.raises(IsADirectoryError) as folder:
        opened(tmp_path)
    assert folder.value.filename == str(tmp_path)


def test_files_that_are_open_are_not_handed_on(tmp_path):
    """To a program that is started, and none stays open that was refused."""
    (tmp_path / "f").write_bytes(b"x")
    with opened(tmp_path / "f") as file:
        assert not os.get_inheritable(file.fileno())
        number = file.fileno()
    with pytest.raises(IsADirectoryError):
        opened(tmp_path)
    with opened(tmp_path / "f") as file:
        assert file.fileno() == number


def test_a_link(tmp_path):
    """Followed only where that is asked for."""
    (tmp_path / "f").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "f")
    with opened(tmp_path / "link") as file:
        assert file.read() == b"x"
    with pytest.raises(OSError, match="symbolic"):
        opened(tmp_path / "link", links=False)


def test_sources_that_an_input_names(pipe):
    """Assembly names its sources: a pipe in the place of one is as if it were not there."""
    from kprof.gate.anchors import _lines
    from kprof_analyzers.details.listing import SourceText
    from kprof_analyzers.suppressions import source_text

    assert source_text(str(pipe)) is None
    assert _lines(str(pipe)) == ()
    assert "not" in SourceText(trusted=True).lines(str(pipe))


def test_a_folder_that_cannot_be_listed():
    """The operating system's words where it has some, and the folder."""
    for error, message in (
        (PermissionError(EACCES, "Permission denied", "kernels"), "cannot be listed: Permission denied"),
        (OSError("no reason"), "cannot be listed: no reason"),
    ):
        assert unlisted(error).message == message
    assert unlisted(PermissionError(EACCES, "Permission denied", "kernels")).path == "kernels"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"O_NONBLOCK": 0x100, "O_CLOEXEC": 0x200, "O_NOFOLLOW": 0x400}, (0x300, 0x700)),
        ({"O_BINARY": 0x800}, (0x800, 0x800)),
        ({}, (0, 0)),
    ],
    ids=["posix", "windows", "neither"],
)
def test_flags_that_the_system_has_are_used(monkeypatch, flags, expected):
    """On Windows a file opened without ``O_BINARY`` ends at its first Ctrl-Z; a missing flag is no other one."""
    for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOFOLLOW", "O_BINARY"):
        monkeypatch.delattr(os, name, raising=False)
    for name, value in flags.items():
        monkeypatch.setattr(os, name, value, raising=False)
    asked = []

    def refuse(_path, flags):
        asked.append(flags)
        raise FileNotFoundError

    monkeypatch.setattr(os, "open", refuse)
    there = executed_again(opening)
    for links in (True, False):
        with pytest.raises(FileNotFoundError):
            there.opened("x", links=links)
    assert tuple(flags - os.O_RDONLY for flags in asked) == expected
