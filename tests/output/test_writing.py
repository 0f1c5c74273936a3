"""Where results go: whole files, and streams that are never replaced."""

import io
import os
import subprocess
import sys
import threading
from errno import ENOSPC
from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.output.writing import _is_stream, log, print_styled, write_output

WRITE = """
import sys
from kprof.output.writing import write_output
print("before")
write_output(sys.argv[1], "{}")
print("after")
"""


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """No other file is left beside it, also where it cannot be written."""
    path = tmp_path / "out.json"
    for text in ("first", "second"):
        write_output(str(path), text)
        assert path.read_text() == text
    with pytest.raises(KprofError, match="cannot write the output: Is a directory"):
        write_output(str(tmp_path), "x")
    with pytest.raises(KprofError, match="cannot write the output: No such file or directory"):
        write_output(str(tmp_path / "none" / "out.json"), "x")
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}*"))


def test_a_reader_sees_the_earlier_file_or_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until all of it is there, the earlier one stays."""
    path = tmp_path / "out.json"
    path.write_text("earlier")
    seen = []
    real = Path.replace

    def replace(source: Path, target: Path) -> Path:
        seen.append((path.read_text(), source.read_text()))
        return real(source, target)

    monkeypatch.setattr(Path, "replace", replace)
    write_output(str(path), "new")
    assert seen == [("earlier", "new")]
    assert path.read_text() == "new"


@pytest.mark.parametrize(
    ("content", "written"),
    [
        ("{}", b"{}\n"),
        ("{}\n", b"{}\n"),
        (b"{}", b"{}\n"),
        ('{"\u6f22": "\x1b[31m"}', b'{"\xe6\xbc\xa2": "\\u001b[31m"}\n'),
        ("caf\udce9", b"caf\\udce9\n"),
        (b"\xff\xfe", b"\xff\xfe\n"),
    ],
    ids=ascii,
)
def test_a_document_on_standard_output(monkeypatch: pytest.MonkeyPatch, content: str | bytes, written: bytes) -> None:
    """UTF-8 whatever the terminal is, behind what was printed, ended by one newline, with no command to a terminal."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", out)
    print("before")
    write_output("-", content)
    assert out.buffer.getvalue() == b"before\n" + written


def test_a_file_takes_the_bytes_as_they_are(tmp_path: Path) -> None:
    """No newline is added, and what commands a terminal stays: it is no terminal."""
    path = tmp_path / "-"
    write_output(str(path), "\x1b[31m \udce9")
    assert path.read_bytes() == b"\x1b[31m \\udce9"


def test_what_is_said_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operating system's words, and the place; the part that was written goes, if it can."""
    (tmp_path / "folder").mkdir()
    for path, message in (("folder", "Is a directory"), ("none/x", "No such file or directory")):
        with pytest.raises(KprofError) as error:
            write_output(str(tmp_path / path), "x")
        assert error.value.message == f"cannot write the output: {message}"
        assert error.value.path == str(tmp_path / path)
    parts = []

    def no_room(part: Path, data: bytes) -> int:
        parts.append(part.name)
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", no_room)
    with pytest.raises(KprofError, match="No space left on device"):
        write_output(str(tmp_path / "out.json"), "x")
    assert parts == [".out.json.partial"]
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: no_room(tmp_path, b""))
    with pytest.raises(KprofError, match="No space left on device"):
        write_output(str(tmp_path / "out.json"), "x")
    with pytest.raises(KprofError) as full:
        write_output("/dev/full", "x")
    assert (full.value.message, full.value.path) == ("cannot write the output: No space left on device", "/dev/full")


@pytest.mark.parametrize("name", ["/dev/x", "/dev/fd/65000", "/proc/self/fd/65000", os.devnull])
def test_descriptors_and_devices_are_streams(name: str) -> None:
    """One that is closed as well: it is no file that could be made."""
    assert _is_stream(Path(name))


def test_files_and_folders_are_no_streams(tmp_path: Path) -> None:
    """Nor what is not there."""
    (tmp_path / "f").touch()
    assert not any(map(_is_stream, (tmp_path, tmp_path / "f", tmp_path / "none", tmp_path / "f" / "x")))


def test_lines_for_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal's words are not cut; a file's lines are as they were written; styled text keeps its colours."""
    long = "word " * 30

    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "40")
    for stream, lines in ((Screen(), 5), (io.StringIO(), 1)):
        monkeypatch.setattr(sys, "stderr", stream)
        log(long)
        shown = stream.getvalue().splitlines()
        assert len(shown) == lines
        assert " ".join(shown).split() == long.split()
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    print_styled("\x1b[31mred\x1b[0m\n::error::x\n")
    assert out.getvalue() == "\x1b[31mred\x1b[0m\n\\::error::x\n"


@pytest.mark.skipif(os.name != "posix", reason="this system has no such files")
def test_a_pipe_stays_one(tmp_path: Path) -> None:
    """As a shell makes it for ``--json >(jq .)``."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_output(str(pipe), "{}")
    reader.join(30)
    assert read == [b"{}"]
    assert pipe.is_fifo()
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]
    write_output(os.devnull, "{}")
    assert Path(os.devnull).is_char_device()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="this system has no such file")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_its_name(tmp_path: Path, name: str) -> None:
    """What is printed before and after stays, in a pipe and in a file."""
    command = [sys.executable, "-c", WRITE, name]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    piped = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert piped.stdout == "before\n{}after\n"
    with (tmp_path / "out").open("ab") as out:
        subprocess.run(command, stdout=out, check=True, env=environment)
    assert (tmp_path / "out").read_text() == "before\n{}after\n"
    assert Path("/dev/stdout").is_symlink()
