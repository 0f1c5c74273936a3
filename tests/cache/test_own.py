"""What stands for kprof: its plug-ins are part of it, however they are installed."""

import importlib
import sys
from pathlib import Path

import pytest

from kprof import analysis
from kprof.cache import own


@pytest.fixture(autouse=True)
def _plugins(monkeypatch, tmp_path):
    """A folder that can be imported from, and nothing kept of the last answer."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    clear = own.of_kprof.cache_clear
    clear()
    yield
    clear()


def _digest(monkeypatch, *modules):
    monkeypatch.setattr(analysis, "providers", lambda: ("kprof_analyzers", *modules))
    importlib.invalidate_caches()
    own.of_kprof.cache_clear()
    return own.of_kprof()


@pytest.mark.parametrize(
    ("module", "files", "counts"),
    [
        ("kprof_plugin_single", ["kprof_plugin_single.py"], "kprof_plugin_single.py"),
        ("kprof_plugin.rules", ["kprof_plugin/__init__.py", "kprof_plugin/rules.py"], "kprof_plugin/helper.py"),
        ("kprof_plugin.rules", ["kprof_plugin/__init__.py", "kprof_plugin/rules.py"], "kprof_plugin/table.json"),
        ("kprof_space.plugin.rules", ["kprof_space/plugin/__init__.py"], "kprof_space/plugin/rules.py"),
        ("kprof_space.single", ["kprof_space/single.py"], "kprof_space/single.py"),
    ],
)
def test_a_plug_in_s_content_counts(monkeypatch, tmp_path, module, files, counts):
    """One file, a package with its data, or a part of a package that others share."""
    without = _digest(monkeypatch)
    for name in files:
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("LIMIT = 1\n")
    installed = _digest(monkeypatch, module)
    changed = tmp_path / "site" / counts
    changed.write_text("LIMIT = 2\n")
    assert len({without, installed, _digest(monkeypatch, module)}) == 3
    (tmp_path / "site" / "unrelated.py").write_text("LIMIT = 3\n")
    again = _digest(monkeypatch, module)
    assert again == _digest(monkeypatch, module)


def test_what_others_share_is_not_all_theirs(monkeypatch, tmp_path):
    """A neighbour in a package without ``__init__.py`` belongs to somebody else."""
    for name in ("mine", "theirs"):
        (tmp_path / "site" / "kprof_shared" / name).mkdir(parents=True)
        (tmp_path / "site" / "kprof_shared" / name / "__init__.py").write_text("")
    before = _digest(monkeypatch, "kprof_shared.mine")
    (tmp_path / "site" / "kprof_shared" / "theirs" / "__init__.py").write_text("A = 1\n")
    assert _digest(monkeypatch, "kprof_shared.mine") == before


def test_a_package_below_a_shared_one_counts_whole(monkeypatch, tmp_path):
    """``shared.package.rules:provide`` is the package that has a file of its own, and no more than that."""
    package = tmp_path / "site" / "kprof_several" / "package"
    (package / "rules").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "rules" / "__init__.py").write_text("")
    (package / "helper.py").write_text("A = 1\n")
    module = "kprof_several.package.rules:provide"
    assert own._places(module) == [package]
    before = _digest(monkeypatch, module)
    (package / "helper.py").write_text("A = 2\n")
    assert _digest(monkeypatch, module) != before
    (package.parent / "single.py").write_text("A = 1\n")
    assert own._places("kprof_several.single:provide") == [package.parent / "single.py"]


@pytest.mark.parametrize("module", ["kprof_is_not_there", "not a module", "", "kprof_shared..x"])
def test_a_plug_in_that_is_not_there_is_no_error(monkeypatch, module):
    """Whoever loads it says so."""
    assert _digest(monkeypatch, module) != _digest(monkeypatch)


def test_keys_depend_on_kprof_and_python(monkeypatch):
    """And on the question."""
    first = own.derived_key("a")
    assert own.derived_key("a") == first != own.derived_key("b")
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert own.derived_key("a") != first
    monkeypatch.undo()
    monkeypatch.setattr(own, "of_kprof", lambda: "another")
    assert own.derived_key("a") != first


def test_parts_of_kprof():
    """A module or a subpackage alone has a digest of its own."""
    whole, part, single = own.of_package(), own.of_package("cache"), own.of_package("errors.py")
    assert len({whole, part, single}) == 3
    assert Path(own.__file__).parent.name == "cache"
