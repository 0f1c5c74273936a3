"""Where results go: whole files, and streams that are never replaced."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.output.writing import write_output

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
