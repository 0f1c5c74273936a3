"""Recordings that a check keeps: taken again only as they were recorded, by the same kprof."""

from types import SimpleNamespace

import pytest

from kprof.gate import programs
from kprof.gate.config import Program


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Ask for the recording of a program that writes one listing; the list of those that were made comes along."""
    made = []
    changed = []

    def record(_program, _arch, _folder, _jobs, output):
        (output / "kernels").mkdir(parents=True)
        (output / "kernels" / "kernel.amdgcn").write_text("s_waitcnt vmcnt(1)\n")
        made.append(output)

    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(programs, "_record", record)
    monkeypatch.setattr(programs, "is_capture", lambda place: place.is_dir())
    monkeypatch.setattr(programs, "read", lambda _: SimpleNamespace(complete=True, sources={}))
    monkeypatch.setattr(programs, "changed", lambda *_: changed)
    program = Program(command=["python", "train.py"])
    return SimpleNamespace(capture=lambda: programs.capture_of(program, "gfx942", tmp_path), made=made, changed=changed)


def test_it_is_recorded_once(asked):
    """As long as no file of the program has changed."""
    place = asked.capture()
    assert asked.capture() == place
    assert len(asked.made) == 1
    asked.changed.append("train.py")
    assert asked.capture() == place
    assert len(asked.made) == 2


def test_a_digit_that_was_changed_is_not_judged(asked):
    """The listing is that of the program again."""
    listing = asked.capture() / "kernels" / "kernel.amdgcn"
    listing.write_text("s_waitcnt vmcnt(0)\n")
    assert (asked.capture() / "kernels" / "kernel.amdgcn").read_text() == "s_waitcnt vmcnt(1)\n"
    (asked.capture() / "kernels" / "more.amdgcn").write_text("")
    asked.capture()
    assert len(asked.made) == 3


def test_another_kprof_records_again(asked, monkeypatch):
    """What is recorded is its work too."""
    before = asked.capture()
    monkeypatch.setattr("kprof.cache.own.of_kprof", lambda: "another")
    assert asked.capture() != before
    assert len(asked.made) == 2
