"""Files of installed packages that a capture rests on: a tuned file put into one makes the capture stale."""

import hashlib
import importlib
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.captures.installed import (
    InstalledFiles,
    distributions,
    imported_versions,
    name_in_package,
    other_versions,
    package_digests,
    packages_of,
)
from kprof.captures.reader import read
from kprof.gate.captured import _elsewhere, stale
from kprof.recording.files_read import Reads
from kprof.recording.program_sources import of_process
from tests.recording.conftest import kprof_environment

KERNEL = """
import json
from pathlib import Path
import triton
import triton.language as tl

@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

def run(n):
    chosen = Path(__file__).parent / "configs" / "MI300X.json"
    block = json.loads(chosen.read_text())["BLOCK"] if chosen.exists() else 256
    scale.warmup(triton.MockTensor("fp32"), triton.MockTensor("fp32"), n, BLOCK=block, grid=(1,))
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of installed packages, on the path, with one package in it."""
    folder = tmp_path / "lib" / "site-packages"
    package = folder / "tuned_package"
    (package / "configs").mkdir(parents=True)
    (package / "__init__.py").write_text(KERNEL)
    monkeypatch.syspath_prepend(str(folder))
    return folder


@given(st.lists(st.text("abc.", min_size=1, max_size=5).filter(lambda n: n.strip(".")), min_size=1, max_size=4))
def test_a_name_in_a_package_does_not_depend_on_where_it_is_installed(parts):
    name = "/".join(parts)
    for place in ("/usr/lib/python3/dist-packages", "/home/x/.venv/lib/python3.11/site-packages"):
        assert name_in_package(f"{place}/{name}") == name
        assert packages_of([f"{place}/{name}", "/home/x/own.py"]) == {parts[0]}
    assert name_in_package(f"/home/x/{name}") is None


def test_changed_gone_and_appeared_files_are_told(site):
    init, config = site / "tuned_package/__init__.py", site / "tuned_package/configs/a.json"
    config.write_text("{}")
    known = package_digests([str(init), str(config), "/etc/hostname"])
    assert known == {
        "tuned_package/__init__.py": hashlib.sha256(init.read_bytes()).hexdigest(),
        "tuned_package/configs/a.json": hashlib.sha256(b"{}").hexdigest(),
    }
    absent = ["tuned_package/configs/b.json"]
    same = InstalledFiles(known, absent)
    assert (same.changed(), same.appeared(), same.missing) == ([], [], [])
    init.write_text("x = 1")
    config.unlink()
    (site / absent[0]).write_text("{}")
    now = InstalledFiles(known, absent)
    assert now.changed() == ["tuned_package/__init__.py changed", "tuned_package/configs/a.json is gone"]
    assert now.appeared() == absent


def test_a_package_that_is_not_installed_is_named_and_not_compared(site):
    shutil.rmtree(site / "tuned_package")
    found = InstalledFiles({"tuned_package/__init__.py": "0" * 64}, ["tuned_package/a.json"])
    assert (found.changed(), found.appeared(), found.missing) == ([], [], ["tuned_package"])


def test_names_that_lead_out_are_not_followed(site):
    (site.parent / "secret.json").write_text("{}")
    found = InstalledFiles({"../secret.json": "0" * 64}, ["../secret.json", "/etc/passwd"])
    assert (found.changed(), found.appeared()) == ([], [])


def test_data_of_packages_counts(site):
    """What was read there is kept, and what was looked for; code is told by what was imported."""
    config = site / "tuned_package/configs/a.json"
    config.write_text("{}")
    (site / "other").mkdir()
    (site / "other/data.json").write_text("{}")
    reads = Reads()
    for name in ("tuned_package/configs/a.json", "tuned_package/b.json", "tuned_package/c.py", "other/data.json"):
        reads.read[str(site / name)] = None
    for name in ("other-1.0.dist-info/METADATA", "distutils-precedence.pth"):
        reads.read[str(site / name)] = None
    assert reads.packaged() == ([str(config), str(site / "other/data.json")], ["tuned_package/b.json"])


def installed(site, package, version):
    """As an installer leaves it."""
    for old in site.glob(f"{package}-*.dist-info"):
        shutil.rmtree(old)
    facts = site / f"{package}-{version}.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (facts / "top_level.txt").write_text(f"{package}\n")
    importlib.invalidate_caches()


def test_data_of_another_version_is_named_and_not_compared(site):
    """A package without kernels whose version differs has other data, which says nothing."""
    config = site / "tuned_package/a.json"
    config.write_text("{}")
    installed(site, "tuned_package", "1.2")
    versions = distributions({"tuned_package", "nowhere"})
    assert versions == {"tuned_package": "tuned_package==1.2"}
    known = package_digests([str(config)])
    config.write_text('{"BLOCK": 4}')
    (site / "tuned_package/b.json").write_text("{}")
    same = InstalledFiles(known, ["tuned_package/b.json"], versions)
    assert (same.changed(), same.appeared()) == (["tuned_package/a.json changed"], ["tuned_package/b.json"])
    assert (same.missing, same.other_versions) == ([], [])
    installed(site, "tuned_package", "1.3")
    other = InstalledFiles(known, ["tuned_package/b.json"], versions)
    assert (other.changed(), other.appeared(), other.missing) == ([], [], [])
    assert other.other_versions == ["tuned_package==1.2 (here tuned_package==1.3)"]
    shutil.rmtree(site / "tuned_package")
    assert InstalledFiles(known, [], versions).missing == ["tuned_package"]


@pytest.mark.triton
def test_a_tile_from_another_packages_data_makes_the_capture_stale(site, tmp_path):
    """The kernel is the program's own, its tile stands in a package that has none; a new version of it is named."""
    tiles = site / "tuned_package/tiles.json"
    tiles.write_text('{"BLOCK": 1024}')
    (site / "tuned_package/__init__.py").write_text("")
    installed(site, "tuned_package", "1.2")
    program = tmp_path / "program.py"
    kernel = KERNEL.replace('Path(__file__).parent / "configs" / "MI300X.json"', f"Path({str(tiles)!r})")
    program.write_text(f"{kernel}\nrun(4096)\n")
    output = record(program, site, tmp_path)
    capture = read(output)
    assert list(capture.packages) == ["tuned_package/tiles.json"]
    assert capture.distributions == {"tuned_package": "tuned_package==1.2"}
    assert stale(capture, "capture") is None
    tiles.write_text('{"BLOCK": 65536}')
    assert "tuned_package/tiles.json changed since it was recorded" in stale(read(output), "capture")
    installed(site, "tuned_package", "1.3")
    assert stale(read(output), "capture") is None
    assert "data of tuned_package==1.2 (here tuned_package==1.3)" in _elsewhere(read(output), "capture")


def test_versions_of_what_was_imported(site):
    """By the names of the folders of facts, or by what these say; what a build appends is no other version."""
    installed(site, "tuned_package", "1.2+rocm6")
    installed(site, "unrelated", "7")
    installed(site, "pillow", "11")
    (site / "pillow-11.dist-info/top_level.txt").write_text("PIL\n")
    names = ("tuned_package/inner/tile.py", "PIL/Image.py")
    files = {f"{site}/{name}": name for name in names}
    assert imported_versions(files, ()) == {"pillow": "11", "tuned_package": "1.2"}
    assert imported_versions(files, {"PIL"}) == {"tuned_package": "1.2"}
    assert imported_versions({"/nowhere/site-packages/a/b.py": "a/b.py"}, ()) == {}


def test_another_version_of_what_was_imported(site):
    """Where it is not installed nothing is said: captures are checked where their programs cannot run."""
    installed(site, "tuned_package", "1.2+cpu")
    assert other_versions({"tuned_package": "1.2", "nowhere_installed": "3", "": "1"}) == []
    assert other_versions({"tuned_package": "1.3"}) == ["tuned_package 1.3 (here 1.2)"]


def test_packages_below_the_standard_library(site, monkeypatch, tmp_path):
    """Where they are without a virtual environment: conda, containers, pip of the system."""
    (site / "tuned_package/__init__.py").write_text("TILE = 1024")
    installed(site, "tuned_package", "1.2")
    real = sysconfig.get_paths
    # Who measures coverage asks for schemes while the test runs.
    own = {"stdlib": str(site.parent)}
    monkeypatch.setattr(sysconfig, "get_paths", lambda *scheme, **more: real(*scheme, **more) if scheme else own)
    monkeypatch.delitem(sys.modules, "tuned_package", raising=False)
    importlib.import_module("tuned_package")
    try:
        kernel = str(site / "tuned_package/__init__.py")
        assert list(of_process(tmp_path / "tree", kernels=[kernel])["packages"]) == ["tuned_package/__init__.py"]
        assert of_process(tmp_path / "tree", Reads())["imported"]["tuned_package"] == "1.2"
    finally:
        del sys.modules["tuned_package"]


@pytest.mark.triton
def test_a_tile_from_another_packages_module_is_named(site, tmp_path):
    """The kernel is the program's own, its tile stands in code of a package that has none: another version is told."""
    (site / "tuned_package/__init__.py").write_text("TILE = 1024")
    installed(site, "tuned_package", "1.2")
    program = tmp_path / "program.py"
    program.write_text(f"{KERNEL}\nimport tuned_package\nrun(4 * tuned_package.TILE)\n")
    output = record(program, site, tmp_path)
    assert read(output).imported["tuned_package"] == "1.2"
    assert "modules of" not in _elsewhere(read(output), "capture")
    installed(site, "tuned_package", "1.3")
    assert "modules of tuned_package 1.2 (here 1.3)" in _elsewhere(read(output), "capture")


def record(program, site, folder):
    """A capture of a program that has the packages."""
    environment = kprof_environment()
    environment["PYTHONPATH"] = f"{site}:{environment['PYTHONPATH']}"
    output = folder / "capture"
    command = [sys.executable, "-m", "kprof", "capture", "-o", str(output), "--", sys.executable, str(program)]
    subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=True)
    return output


@pytest.mark.triton
def test_a_tuned_file_put_into_a_package_makes_the_capture_stale(site, tmp_path):
    """Recorded from a program that asks its package for tiles, as servers do; without the package that is told."""
    program = tmp_path / "program.py"
    program.write_text("import tuned_package\ntuned_package.run(4096)\n")
    output = record(program, site, tmp_path)

    def again():
        return read(output)

    assert list(again().packages) == ["tuned_package/__init__.py"]
    assert "tuned_package/configs/MI300X.json" in again().packages_absent
    assert stale(again(), "capture") is None
    tiles = site / "tuned_package/configs/MI300X.json"
    tiles.write_text('{"BLOCK": 1024}')
    assert "tuned_package/configs/MI300X.json was not there when it was recorded" in stale(again(), "capture")
    tiles.unlink()
    (site / "tuned_package/__init__.py").write_text(KERNEL.replace("256", "512"))
    assert "tuned_package/__init__.py changed since it was recorded" in stale(again(), "capture")
    Path(site / "tuned_package").rename(tmp_path / "elsewhere")
    assert stale(again(), "capture") is None
    assert "tuned_package, not installed here" in _elsewhere(again(), "capture")
    assert _elsewhere(replace(again(), packages={}, packages_absent=()), "capture") == ""
