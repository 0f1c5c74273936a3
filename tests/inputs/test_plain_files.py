"""Files of a directory that may come from a stranger."""

import contextlib
import os
from pathlib import Path

import pytest

from kprof.errors import InputError
from kprof.inputs import plain_files


def test_the_whole_content_up_to_the_limit(tmp_path):
    """One byte more is refused, with the size."""
    path = tmp_path / "f"
    path.write_bytes(b"x" * 2000)
    assert plain_files.read_bytes(path, 2000) == b"x" * 2000
    with pytest.raises(InputError) as caught:
        plain_files.read_bytes(path, 1999)
    assert str(caught.value) == f"{path}: too large for such a file: 2,000 bytes"


def test_a_file_that_grows_while_it_is_read_is_met(tmp_path, monkeypatch):
    """Its size was within the limit when it was opened; no more than a byte over the limit is read."""
    path = tmp_path / "f"
    path.write_bytes(b"x" * 10)
    real = plain_files._open

    def opened(*arguments):
        number = real(*arguments)
        path.write_bytes(b"x" * 100)
        return number

    monkeypatch.setattr(plain_files, "_open", opened)
    with pytest.raises(InputError) as caught:
        plain_files.read_bytes(path, 10)
    assert str(caught.value) == f"{path}: too large for such a file: 11 bytes"


def test_lines_have_their_numbers(tmp_path):
    """From 1; empty ones count, and the last one need not be ended."""
    path = tmp_path / "f"
    path.write_bytes(b"a\n\nb")
    assert list(plain_files.lines(path)) == [(1, b"a\n"), (2, b"\n"), (3, b"b")]
    path.write_bytes(b"")
    assert list(plain_files.lines(path)) == []


def test_a_line_that_is_too_long_has_its_number(tmp_path, monkeypatch):
    """The lines before it are read; one of just the limit is."""
    monkeypatch.setattr(plain_files, "LINE_LIMIT", 8)
    path = tmp_path / "f"
    path.write_bytes(b"1234567\n12345678\n1\n")
    found = []
    with pytest.raises(InputError) as caught:
        found.extend(plain_files.lines(path))
    assert found == [(1, b"1234567\n")]
    assert str(caught.value) == f"{path}, line 2: the line is too long"


def test_a_journal_that_is_too_large_is_not_begun(tmp_path, monkeypatch):
    """By its own limit."""
    monkeypatch.setattr(plain_files, "JOURNAL_LIMIT", 3)
    (tmp_path / "f").write_bytes(b"abc")
    assert list(plain_files.lines(tmp_path / "f")) == [(1, b"abc")]
    (tmp_path / "f").write_bytes(b"abcd")
    with pytest.raises(InputError, match="too large for such a file: 4 bytes"):
        list(plain_files.lines(tmp_path / "f"))


def test_limits():
    """A line of a journal has 4 MiB at most, a journal 2 GiB, a head 1 MiB, one of the compiler's products 256 MiB."""
    assert plain_files.LINE_LIMIT == 4 << 20
    assert plain_files.JOURNAL_LIMIT == 2 << 30
    assert plain_files.HEAD_LIMIT == 1 << 20
    assert plain_files.STAGE_LIMIT == 256 << 20


def test_links_pipes_and_folders_are_refused_in_words(tmp_path):
    """None of them is followed, waited for or listed; what is not there is told apart."""
    path = tmp_path / "f"
    path.write_bytes(b"x")
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    for name, words in (
        ("link", "is a link, and links are not followed"),
        ("dangling", "is a link, and links are not followed"),
        ("pipe", "is not a plain file"),
        (".", "is not a plain file"),
    ):
        for read in (lambda p: plain_files.read_bytes(p, 100), lambda p: list(plain_files.lines(p))):
            with pytest.raises(InputError) as caught:
                read(tmp_path / name)
            assert str(caught.value) == f"{tmp_path / name}: {words}"
    with pytest.raises(FileNotFoundError):
        plain_files.read_bytes(tmp_path / "none", 100)
    with pytest.raises(InputError, match="cannot be read: Not a directory"):
        plain_files.read_bytes(path / "below", 100)


def test_no_file_stays_open_that_was_refused(tmp_path):
    """Neither for its kind nor for its size."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "f").write_bytes(b"xx")
    opened = Path("/proc/self/fd")
    if not opened.is_dir():
        pytest.skip("this system does not list open files")
    for name in ("pipe", "f"):
        with pytest.raises(InputError):
            plain_files.read_bytes(tmp_path / name, 1)
    # Others of this process may close meanwhile.
    assert not [one for one in opened.iterdir() if one.is_symlink() and str(tmp_path) in os.fsdecode(_target(one))]


def _target(descriptor):
    with contextlib.suppress(OSError):
        return descriptor.readlink()
    return ""


def test_what_is_a_folder(tmp_path):
    """A link to one is none."""
    (tmp_path / "d").mkdir()
    (tmp_path / "f").touch()
    (tmp_path / "link").symlink_to(tmp_path / "d")
    found = {name: plain_files.plain_folder(tmp_path / name) for name in ("d", "f", "link", "none")}
    assert found == {"d": True, "f": False, "link": False, "none": False}
