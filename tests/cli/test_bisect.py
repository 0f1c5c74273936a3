"""``kprof bisect``, as far as it needs no other Triton."""

import pytest

from kprof.compiler import installations, versions
from kprof.compiler.versions import Installed
from kprof.errors import CompileError


@pytest.fixture
def installed(monkeypatch, tmp_path):
    monkeypatch.setattr(versions, "installed", lambda: Installed("3.9.0", tmp_path))


@pytest.mark.parametrize(
    ("good", "bad", "all_of_them"),
    [
        ("3.6", "3.9.0", ["3.6.0", "3.7.0", "3.8.0", "3.9.0"]),
        ("3.6.0", "installed", ["3.6.0", "3.7.0", "3.8.0", "installed"]),
        ("3.8.0", "3.5.1", ["3.8.0", "3.7.0", "3.6.0", "3.5.1"]),
        ("3.7.0", "3.7.1", ["3.7.0", "3.7.1"]),
    ],
)
def test_minor_releases_between_are_compared_too(installed, good, bad, all_of_them):
    assert installations.between(good, bad) == all_of_them


def test_two_ends_that_are_one_release(installed):
    with pytest.raises(CompileError, match=r"got Triton 3\.6\.0 twice"):
        installations.between("3.6", "3.6.0")


def test_what_is_missing_is_said(kprof):
    ran = kprof("bisect", "softmax")
    assert ran.code == 2
    assert "--good is missing" in ran.err
    assert "--good 3.6.0" in ran.err
    ran = kprof("bisect", "--good", "3.6.0")
    assert ran.code == 2
    assert "one target is required, got 0" in ran.err
    assert "is no release" in kprof("bisect", "softmax", "--good", "new").err or ran.err
