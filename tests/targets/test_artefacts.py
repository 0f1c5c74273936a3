"""Compiled files: what is too large to be held in memory."""

from pathlib import Path

import pytest

from kprof.errors import KprofError
from kprof.targets.artefacts import load_file

MATMUL = Path(__file__).resolve().parents[1] / "artifacts" / "gfx942" / "matmul.triton-3.9.0.amdgcn"


def test_assembly_that_would_take_a_gigabyte(tmp_path, monkeypatch):
    """By its size, before it is read as text; the variable allows more, and less."""
    large = tmp_path / "large.amdgcn"
    large.write_bytes(MATMUL.read_bytes() + b"; " + b"-" * (16 << 20))
    with pytest.raises(KprofError, match="bytes of assembly; the limit is 16,777,216") as caught:
        next(load_file(large))
    assert caught.value.path == str(large)
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "64M")
    assert next(load_file(large)).name == "matmul"
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "10")
    with pytest.raises(KprofError, match="the limit is 10"):
        next(load_file(MATMUL))


def test_assembly_of_more_lines_than_are_read_in_time(tmp_path, monkeypatch):
    """Two million ``s_nop`` fit in 16 MiB and would take 40 s and 3 GB."""
    many = tmp_path / "many.amdgcn"
    many.write_bytes(MATMUL.read_bytes() + b";\n" * 262_145)
    with pytest.raises(KprofError, match="lines of assembly; the limit is 262,144"):
        next(load_file(many))
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "1M")
    with pytest.raises(KprofError, match="lines of assembly; the limit is 262,144"):
        next(load_file(many))
    monkeypatch.setenv("KPROF_INPUT_LIMIT", "32M")
    assert next(load_file(many)).name == "matmul"
