"""Frames of the stack that belong to the recorded program."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from kprof.recording.describe import is_machinery


def test_triton_is_not_the_program_wherever_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither in a checkout nor in an environment that kprof made for another release."""
    triton = ModuleType("triton")
    triton.__file__ = str(tmp_path / "3.8.0" / "site" / "triton" / "__init__.py")
    monkeypatch.setitem(sys.modules, "triton", triton)
    files = {"3.8.0/site/triton/runtime/jit.py": True, "3.8.0/site/triton_user.py": False, "program.py": False}
    assert {name: is_machinery(compile("1", str(tmp_path / name), "exec")) for name in files} == files
