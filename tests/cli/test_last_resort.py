"""Errors of kprof itself, streams that are closed or break, a user without a home."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])}
KPROF = f"{shlex.quote(sys.executable)} -m kprof"
KERNEL = "tests/artifacts/gfx942/scaled_exp.triton-3.9.0.amdgcn"
HOMELESS = "import pwd\ndef gone(number):\n    raise KeyError(number)\npwd.getpwuid = gone\n"


def shell(line, **environment):
    """Run a line of bash; its output, its error output and its exit code."""
    ran = subprocess.run(
        ["bash", "-c", line], capture_output=True, check=False, cwd=ROOT, env={**ENVIRONMENT, **environment}
    )
    return ran.stdout.decode(errors="replace"), ran.stderr.decode(errors="replace"), ran.returncode


@pytest.fixture
def broken(monkeypatch):
    """A command with an error in it."""
    from kprof.cli import explain

    def error():
        raise ZeroDivisionError("the knob --token=S3CRET is 0")

    monkeypatch.setattr(explain, "command", error)
    return "explain"


def test_an_error_of_kprof_itself_is_one_sentence_and_a_report(kprof, broken, monkeypatch, tmp_path):
    """Never a traceback, never 1: that means a regression. The report says what is needed and holds no secret."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ran = kprof(broken, "--password=S3CRET")
    # Options are looked at before the command is.
    assert ran.code == 2
    ran = kprof(broken)
    assert (ran.code, ran.out) == (70, "")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    path = Path(re.search(r"is in (\S+)$", ran.err).group(1))
    text = path.read_text()
    assert path.parent == tmp_path
    assert path.stat().st_mode & 0o077 == 0
    for word in ("Traceback", "ZeroDivisionError", "command: kprof explain", "msgspec: ", "Python: "):
        assert word in text
    assert "S3CRET" not in text


def test_a_report_that_cannot_be_written(kprof, broken, monkeypatch, tmp_path):
    """A full disk: still one sentence, with the place."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    ran = kprof(broken)
    assert ran.code == 70
    assert "could not be written" in ran.err
    assert "test_last_resort.py:" in ran.err


@pytest.mark.parametrize("reader", ["true", "head -c 1"])
@pytest.mark.parametrize("command", ["list gpus gfx942 --json -", "list rules --json -", f"diff {KERNEL} {KERNEL}"])
def test_a_reader_that_leaves_is_no_regression(command, reader):
    """Quiet, and the exit code that a shell gives a tool that SIGPIPE ended."""
    line = f"{KPROF} {command} | {{ {reader} >/dev/null; exec 0<&-; sleep 1; }}; exit ${{PIPESTATUS[0]}}"
    _, err, code = shell(line)
    assert (err, code) in {("", 141), ("", 0)}
    if reader == "true":
        assert code == 141


def test_closed_streams():
    """Standard output, error, all three: the result is lost, the exit code is not."""
    for closing in (">&-", "2>&-", "<&- >&- 2>&-"):
        assert shell(f"{KPROF} list rules {closing}")[1:] == ("", 0)
    out, err, code = shell(f"{KPROF} analyze kernel no/such.amdgcn >&-")
    assert (out, code) == ("", 2)
    assert err.startswith("kprof: no/such.amdgcn")
    assert shell(f"{KPROF} analyze kernel no/such.amdgcn 2>&-")[2] == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk():
    """What is printed cannot be written: said once, exit code 2."""
    assert shell(f"{KPROF} list rules >/dev/full")[1:] == ("kprof: output: No space left on device\n", 2)


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_an_encoding_that_lacks_characters(encoding):
    """Tables show escapes; documents stay UTF-8."""
    out, err, code = shell(f"{KPROF} analyze kernel tests/artifacts/gfx942", PYTHONIOENCODING=encoding)
    assert (err, code) == ("", 0)
    assert "gfx942" in out
    out, err, code = shell(f"{KPROF} list gpus gfx942 --json -", PYTHONIOENCODING=encoding)
    assert (err, code) == ("", 0)
    assert json.loads(out)


def test_file_names_that_are_not_utf8(tmp_path):
    """Read as any other, and named with an escape."""
    name = os.fsencode(tmp_path) + b"/caf\xe9"
    Path(os.fsdecode(name)).mkdir()
    shutil.copy(ROOT / "tests" / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn", os.fsdecode(name))
    for arguments, code in (([name], 0), ([name, b"--json", b"-"], 0), ([name + b"/missing.amdgcn"], 2)):
        ran = subprocess.run(
            [sys.executable, "-m", "kprof", "analyze", "kernel", *arguments],
            capture_output=True,
            check=False,
            env=ENVIRONMENT,
        )
        assert ran.returncode == code, ran.stderr
        assert b"Traceback" not in ran.stderr
        assert code == 0 or rb"caf\xe9" in ran.stdout + ran.stderr
        if b"--json" in arguments:
            assert json.loads(ran.stdout)["schema"] == "kprof.report/1"


def test_a_user_without_a_home(tmp_path):
    """Nothing is kept, and everything works."""
    (tmp_path / "sitecustomize.py").write_text(HOMELESS)
    paths = os.pathsep.join([str(tmp_path), ENVIRONMENT["PYTHONPATH"]])
    unset = "unset HOME XDG_CACHE_HOME KPROF_CACHE_DIR;"
    out, err, code = shell(
        f"{unset} {KPROF} occupancy --arch gfx942 --vgpr 128 && {KPROF} doctor >/dev/null", PYTHONPATH=paths
    )
    assert (err, code) == ("", 0)
    assert "gfx942" in out
