"""Install one package into a folder: with uv if found, else with this Python's pip."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from kprof import children
from kprof.errors import CompileError, KprofError

_NETWORK = re.compile(
    r"name resolution|name or service not known|newconnectionerror|connection (?:refused|reset|timed out)|"
    r"network is unreachable|no route to host|failed to (?:establish|fetch)|error sending request|dns error|"
    r"proxyerror|could not connect|timed? ?out|tunnel|retries exceeded|temporary failure|offline|network was disabled",
    re.IGNORECASE,
)
_FULL = re.compile(r"no space left|disk quota|ENOSPC|errno 28", re.IGNORECASE)
_ABSENT = re.compile(
    r"no matching distribution|could not find a version|there (?:is|are) no (?:version|wheels?)|"
    r"no wheels? (?:with|are|is)|has no usable wheels|no version of|not found in the package registry",
    re.IGNORECASE,
)
_VERSIONS = re.compile(r"from versions: ([^)]*)\)")
_DENIED = re.compile(r"permission denied|read-only file system|errno 13|errno 30", re.IGNORECASE)


class Installer(Protocol):
    """Installs packages from an index."""

    @property
    def name(self) -> str:
        """Name of the installer for messages."""

    def install(self, requirement: str, target: Path) -> None:
        """Install a package and its dependencies into a new folder.

        Raises:
            KprofError: if it cannot be installed; the message gives the reason.
        """


@dataclass(frozen=True)
class CommandInstaller:
    """An installer that is a command-line program.

    Attributes:
        name: name of the installer for messages.
        command: the program with its arguments; the target folder and the requirement are appended.
    """

    name: str
    command: Sequence[str]

    def install(self, requirement: str, target: Path) -> None:
        """See :meth:`Installer.install`."""
        try:
            done = children.run(
                [*self.command, "--target", str(target), "--", requirement],
                check=False,
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                env=_environment(),
            )
        except OSError as error:
            raise CompileError(f"{self.name} cannot be started: {error.strerror}", path=self.command[0]) from error
        if done.returncode != 0:
            raise failure(requirement, self.name, done.stderr + "\n" + done.stdout)


def find_installer() -> Installer:
    """Return uv if it works, else pip.

    Raises:
        KprofError: if neither is available.
    """
    uv = _working_uv()
    if uv is not None:
        options = ("--quiet", "--no-progress", "--only-binary", ":all:", "--python", sys.executable)
        return CommandInstaller("uv", (uv, "pip", "install", *options))
    if find_spec("pip") is not None:
        quiet = ("--quiet", "--no-input", "--disable-pip-version-check", "--no-warn-conflicts")
        return CommandInstaller("pip", (sys.executable, "-m", "pip", "install", *quiet, "--only-binary", ":all:"))
    raise CompileError(
        "neither uv nor pip is available to install another Triton",
        hint="Install uv (https://docs.astral.sh/uv/) or run: python -m ensurepip",
    )


def _working_uv() -> str | None:
    """Return the path of uv, or None. A version manager may leave a stub on PATH that only reports an error."""
    found = shutil.which("uv")
    if found is None:
        return None
    try:
        done = children.run([found, "--version"], check=False, capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found if done.returncode == 0 else None


def _environment() -> dict[str, str]:
    """Return the environment variables, without the settings that contradict a target folder."""
    dropped = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_UPGRADE"}
    return {n: v for n, v in os.environ.items() if n not in dropped} | {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}


def failure(requirement: str, name: str, printed: str) -> KprofError:
    """Summarize an installer's output in one error."""
    what = requirement.replace("==", " ").replace("triton", "Triton")
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    telling = (
        word for pattern in (r"\bbecause\b", r"\berror\b") for word in lines if re.search(pattern, word, re.IGNORECASE)
    )
    last = next(telling, lines[-1] if lines else "")
    said = f"{name} said: {last[:300]}" if last else None
    if _FULL.search(printed):
        return CompileError(f"the disk is too full for {what}", hint="It takes up to 1 GiB; KPROF_CACHE_DIR moves it.")
    listed = _VERSIONS.search(printed)
    versions = [v.strip() for v in listed[1].split(",")] if listed else []
    has_versions = any(v and v != "none" for v in versions)
    if _NETWORK.search(printed) and not has_versions:
        return CompileError(
            f"{what} is not in the cache, and the package index cannot be reached",
            hint=said or "Run it once with network access; later runs need none.",
        )
    if _ABSENT.search(printed):
        python = f"Python {sys.version_info[0]}.{sys.version_info[1]} on {platform.system()} {platform.machine()}"
        others = [v for v in versions if re.match(r"3\.([4-9]|\d\d)|[4-9]\.", v)]
        hint = f"Versions for this Python: {', '.join(others)}." if others else said
        return CompileError(f"there is no wheel of {what} for {python}", hint=hint)
    if _DENIED.search(printed):
        return CompileError(f"{what} cannot be written to the cache", hint="KPROF_CACHE_DIR moves it.")
    return CompileError(f"{name} could not get {what}", hint=said)
