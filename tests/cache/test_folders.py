"""Folders that hold more than entries."""

import os
import re

import pytest

from kprof.cache import folders, location


@pytest.fixture(autouse=True)
def _fresh(monkeypatch, tmp_path):
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    clear = location.trouble.cache_clear
    clear()
    folders._temporary.cache_clear()
    yield
    clear()


def test_it_is_below_the_cache_and_its_user_s_alone(tmp_path):
    """The same one every time."""
    before = os.umask(0)
    try:
        found = folders.private_folder("functions")
    finally:
        os.umask(before)
    assert found == folders.private_folder("functions") == tmp_path / "cache" / "functions"
    assert found.stat().st_mode & 0o777 == 0o700


def test_one_that_others_may_write_to_is_not_taken(tmp_path):
    """What is in it would be run: another one, of this process alone, takes its place."""
    (tmp_path / "cache" / "functions").mkdir(parents=True)
    (tmp_path / "cache" / "functions").chmod(0o777)
    found = folders.private_folder("functions")
    assert not found.is_relative_to(tmp_path / "cache")
    assert found.stat().st_mode & 0o777 == 0o700
    assert folders.private_folder("functions") == found
    found.rmdir()


def test_without_a_cache_there_is_a_temporary_one(monkeypatch):
    """For a user without a home, too."""
    for root in (lambda: None, location.root):
        monkeypatch.setenv("KPROF_CACHE_DIR", os.devnull)
        monkeypatch.setattr(location, "root", root)
        found = folders.private_folder("programs")
        assert found.is_dir()
        assert found.name.startswith("kprof-programs-")
    folders.private_folder("programs").rmdir()


def test_a_temporary_one_goes_with_the_process(monkeypatch):
    """Whatever is in it, and whether or not it is still there; its name says which it is."""
    kept = []
    monkeypatch.setattr(folders.atexit, "register", lambda *call, **options: kept.append((call, options)))
    monkeypatch.setattr(location, "root", lambda: None)
    found = folders.private_folder("functions")
    assert re.fullmatch(r"kprof-functions-\w+", found.name)
    (found / "left.py").write_text("")
    (((remove, *arguments), options),) = kept
    for _ in range(2):
        remove(*arguments, **options)
        assert not found.exists()


def test_a_cache_that_is_in_trouble_is_not_taken(tmp_path, monkeypatch):
    """Though its folder could be made."""
    monkeypatch.setattr(location, "trouble", lambda _base: "its disk is full")
    found = folders.private_folder("functions")
    assert not found.is_relative_to(tmp_path / "cache")
    found.rmdir()


def test_one_that_cannot_be_written_to_is_not_taken(tmp_path, monkeypatch):
    """As on a disk that may only be read."""
    monkeypatch.setattr(folders.os, "access", lambda path, mode: mode != os.W_OK)
    found = folders.private_folder("functions")
    assert not found.is_relative_to(tmp_path / "cache")
    found.rmdir()
