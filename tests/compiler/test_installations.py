"""Environments for other Tritons: made once, whole or not at all, one process at a time."""

import errno
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kprof.cache.locks import locked
from kprof.compiler import installations as triton_envs
from kprof.compiler import installers
from kprof.compiler.installers import CommandInstaller, failure, find_installer
from kprof.errors import KprofError

VERSION = "3.5.9"


@dataclass
class FakeInstaller:
    """Writes a package that only has a version."""

    name: str = "fake"
    calls: list[str] = field(default_factory=list)
    then: Callable[[Path], None] = lambda _target: None

    def install(self, requirement: str, target: Path) -> None:
        self.calls.append(requirement)
        (target / "triton").mkdir(parents=True)
        (target / "triton" / "__init__.py").write_text(f'__version__ = "{requirement.partition("==")[2]}"\n')
        self.then(target)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


@pytest.mark.parametrize(
    ("given", "version"),
    [
        ("3.6", "3.6.0"),
        ("3.9.0", "3.9.0"),
        (" 3.10.1 ", "3.10.1"),
        ("current", "installed"),
        ("Installed", "installed"),
    ],
)
def test_versions_are_written_in_one_way(given: str, version: str) -> None:
    assert triton_envs.normalise(given) == version


@pytest.mark.parametrize(
    "given",
    ["3.3.1", "2.1.0", "latest", "", "3.6.0; rm", "../3.6.0", "--index-url=x", "3.6.0+rocm7", "3.6.*", "v3.6.0"],
)
def test_what_is_no_usable_release_is_told(given: str) -> None:
    with pytest.raises(KprofError):
        triton_envs.normalise(given)


def test_the_second_time_nothing_is_installed(cache: Path) -> None:
    installer, told = FakeInstaller(), []
    made = triton_envs.provide(VERSION, installer=installer, tell=told.append)
    again = triton_envs.provide(VERSION, installer=installer, tell=told.append)
    assert made == again
    assert installer.calls == [f"triton=={VERSION}"]
    assert len(told) == 1
    assert triton_envs.known() == [VERSION]
    assert made.module_path[0].startswith(str(cache / "triton-envs" / f"{VERSION}-py3."))


def test_a_failure_leaves_nothing_behind(cache: Path) -> None:
    def fail(_target: Path) -> None:
        raise KprofError("no network")

    with pytest.raises(KprofError, match="no network"):
        triton_envs.provide(VERSION, installer=FakeInstaller(then=fail))
    assert _names(cache / "triton-envs") == []
    assert triton_envs.known() == []


def test_ctrl_c_leaves_nothing_behind(cache: Path) -> None:
    def stop(_target: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        triton_envs.provide(VERSION, installer=FakeInstaller(then=stop))
    assert _names(cache / "triton-envs") == []


def test_a_half_made_environment_is_made_again(cache: Path) -> None:
    folder = cache / "triton-envs" / triton_envs.name_of(VERSION)
    (folder / "site" / "triton").mkdir(parents=True)
    (folder / "site" / "triton" / "__init__.py").write_text("")
    left = cache / "triton-envs" / f".{folder.name}.partabc"
    left.mkdir()
    installer = FakeInstaller()
    triton_envs.provide(VERSION, installer=installer)
    assert installer.calls
    assert not left.exists()


@pytest.mark.parametrize("marker", ["", "[]", '{"layout": 1, "triton": "3.6.0"}', '{"layout": 99}'])
def test_a_damaged_marker_is_not_believed(cache: Path, marker: str) -> None:
    triton_envs.provide(VERSION, installer=FakeInstaller())
    (cache / "triton-envs" / triton_envs.name_of(VERSION) / "complete.json").write_text(marker)
    installer = FakeInstaller()
    triton_envs.provide(VERSION, installer=installer)
    assert installer.calls


def test_an_installer_that_only_claims_success_is_found_out() -> None:
    with pytest.raises(KprofError, match="reports success"):
        triton_envs.provide(VERSION, installer=FakeInstaller(then=lambda t: (t / "triton" / "__init__.py").unlink()))


def test_a_full_disk_is_told() -> None:
    def full(_target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(KprofError, match="No space left") as caught:
        triton_envs.provide(VERSION, installer=FakeInstaller(then=full))
    assert "KPROF_CACHE_DIR" in str(caught.value)


def test_a_cache_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(KprofError, match="cannot be made"):
        triton_envs.provide(VERSION, installer=FakeInstaller())


def test_two_at_once_make_one(cache: Path) -> None:
    installer = FakeInstaller()
    folder = cache / "triton-envs"
    folder.mkdir(mode=0o700, parents=True)
    told: list[str] = []
    waiting = threading.Event()

    def tell(text: str) -> None:
        told.append(text)
        waiting.set()

    with locked(folder / f".{triton_envs.name_of(VERSION)}.lock"):
        results: list[triton_envs.Environment] = []
        thread = threading.Thread(
            target=lambda: results.append(triton_envs.provide(VERSION, installer=installer, tell=tell))
        )
        thread.start()
        assert waiting.wait(10)
        assert told[0].startswith("waiting")
        # What the other process would do before it lets go.
        site = folder / triton_envs.name_of(VERSION) / "site" / "triton"
        site.mkdir(parents=True)
        (site / "__init__.py").write_text("")
        (site.parent.parent / "complete.json").write_text(json.dumps({"layout": 1, "triton": VERSION}))
    thread.join(10)
    assert results[0].folder == site.parent
    assert installer.calls == []


def test_the_running_release_needs_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    class Distribution:
        version = "3.6.0"
        url: str | None = None

        def read_text(self, _name: str) -> str | None:
            return self.url

    found = Distribution()
    monkeypatch.setattr("importlib.metadata.distribution", lambda _name: found)
    assert triton_envs.provide("3.6.0").folder is None
    installer = FakeInstaller()
    found.version = "3.6.0+rocm7"
    assert triton_envs.provide("3.6.0", installer=installer).folder is not None
    found.version, found.url = "3.6.0", '{"url": "file:///src/triton"}'
    triton_envs.provide("3.6.1", installer=installer)
    assert installer.calls == ["triton==3.6.0", "triton==3.6.1"]


_PIP_OFFLINE = """WARNING: Retrying after NewConnectionError: Temporary failure in name resolution
ERROR: Could not find a version that satisfies the requirement triton==3.6.0 (from versions: none)"""
_PIP_NO_WHEEL = """ERROR: Could not find a version that satisfies triton==3.4.9 (from versions: 3.3.1, 3.4.0)
ERROR: No matching distribution found for triton==3.4.9"""
_UV_NO_WHEEL = """error: No solution found when resolving dependencies
  cause: Because there is no version of triton==3.4.9 and you require triton==3.4.9, we can conclude that ..."""


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (_PIP_OFFLINE, "cannot be reached"),
        ("error: Failed to fetch: `https://pypi.org/simple/triton/`\n  Caused by: dns error", "cannot be reached"),
        (_PIP_NO_WHEEL, "there is no wheel of Triton 3.6.0 for Python"),
        (_UV_NO_WHEEL, "there is no wheel of Triton 3.6.0 for Python"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is too full"),
        ("error: Permission denied (os error 13)", "cannot be written"),
        ("Segmentation fault", "fake could not get Triton 3.6.0"),
        ("", "fake could not get Triton 3.6.0"),
    ],
)
def test_an_installers_words_become_one_message(printed: str, said: str) -> None:
    assert said in failure("triton==3.6.0", "fake", printed).message


def test_the_releases_that_there_are_are_named() -> None:
    error = failure(
        "triton==3.4.9", "pip", "No matching distribution found (from versions: 2.1.0, 3.3.1, 3.4.0, 3.10.0)"
    )
    assert error.hint == "Versions for this Python: 3.4.0, 3.10.0."


def test_settings_against_a_target_folder_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PIP_PREFIX", "/usr")
    monkeypatch.setenv("PIP_INDEX_URL", "https://example.invalid/simple")
    said = tmp_path / "said.json"
    program = f"import json, os, sys; json.dump([sys.argv[1:], dict(os.environ)], open({str(said)!r}, 'w'))"
    CommandInstaller("fake", (sys.executable, "-c", program)).install("triton==3.6.0", tmp_path / "site")
    arguments, variables = json.loads(said.read_text())
    assert arguments == ["--target", str(tmp_path / "site"), "--", "triton==3.6.0"]
    assert (variables["PIP_USER"], variables["PIP_INDEX_URL"]) == ("0", "https://example.invalid/simple")
    assert "PIP_PREFIX" not in variables


def test_an_installer_that_fails_is_told(tmp_path: Path) -> None:
    program = "import sys; sys.exit('error: dns error')"
    with pytest.raises(KprofError, match="cannot be reached"):
        CommandInstaller("fake", (sys.executable, "-c", program)).install("triton==3.6.0", tmp_path)
    with pytest.raises(KprofError, match="cannot be started"):
        CommandInstaller("fake", (str(tmp_path / "none"),)).install("triton==3.6.0", tmp_path)


def test_uv_goes_before_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\nexit 0\n")
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_installer().name == "uv"
    # A version manager's stand-in for a program that is not there.
    uv.write_text("#!/bin/sh\nexit 127\n")
    monkeypatch.setattr(installers, "find_spec", lambda _name: object())
    assert find_installer().name == "pip"
    monkeypatch.setattr(installers, "find_spec", lambda _name: None)
    with pytest.raises(KprofError, match="neither uv nor pip"):
        find_installer()


def test_a_child_imports_the_environments_triton_and_our_packages(tmp_path: Path) -> None:
    environment = triton_envs.provide(VERSION, installer=FakeInstaller())
    program = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); import triton, kprof, msgspec; "
    program += "print(triton.__version__)"
    done = subprocess.run(
        [sys.executable, "-s", "-c", program, json.dumps(environment.module_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert done.stdout.strip() == VERSION


def test_the_oldest_release_is_the_projects_own() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert f'triton = ["triton>={".".join(map(str, triton_envs.MINIMUM))}"]' in text


def test_a_folder_that_others_may_write_to_is_refused(cache: Path) -> None:
    """What is in it would be run."""
    triton_envs.provide(VERSION, installer=FakeInstaller())
    assert (cache / "triton-envs").stat().st_mode & 0o777 == 0o700
    (cache / "triton-envs").chmod(0o777)
    with pytest.raises(KprofError, match="other users may write"):
        triton_envs.provide(VERSION, installer=FakeInstaller())


def test_a_user_without_a_home_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kprof.cache.location.root", lambda: None)
    with pytest.raises(KprofError, match="no home folder"):
        triton_envs.provide(VERSION, installer=FakeInstaller())
