"""Install other versions of Triton, each once and in its own folder of the user's cache.

An environment is a folder that contains only one release of Triton. A child process puts it in front of this process's
module path. kprof, its dependencies and the imports of the user's kernel file come from their usual places; only
``triton`` is another one. The user's own environment is never changed.
"""

import contextlib
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kprof.cache import location
from kprof.cache.locks import locked
from kprof.compiler import versions
from kprof.compiler.installers import Installer, find_installer
from kprof.compiler.versions import MINIMUM
from kprof.errors import CompileError

CURRENT = ("installed", "current")
"""Names for the Triton that this Python imports by default."""

_RELEASE = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.\d{1,4})?(?:(?:a|b|rc|\.post|\.dev)\d{1,8})?")
_MARKER = "complete.json"
_LAYOUT = 1

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Environment:
    """The source of a child process's Triton.

    Attributes:
        version: ``3.6.0``, or ``installed``.
        folder: the folder to put in front of the module path; ``None`` for the installed Triton.
    """

    version: str
    folder: Path | None = None

    @property
    def module_path(self) -> list[str]:
        """``sys.path`` of the child."""
        own = [str(Path(entry or ".").absolute()) for entry in sys.path]
        return [str(self.folder), *own] if self.folder is not None else own


def root() -> Path:
    """Return the folder of all environments.

    Raises:
        KprofError: if this user has no home folder, and no other folder is configured.
    """
    base = location.root()
    if base is None:
        raise CompileError("there is no home folder for other Tritons", hint=f"Set {location.VARIABLE} to a folder.")
    return base / "triton-envs"


def between(first: str, last: str) -> list[str]:
    """Return two releases and the first release of each minor version between them: 3.6.0, 3.7.0, 3.8.0.

    Args:
        first: a release in any form that :func:`normalise` accepts.
        last: another release.

    Raises:
        KprofError: if one is not a release of Triton, or both are the same.
    """
    ends = [normalise(first), normalise(last)]
    if ends[0] == ends[1]:
        raise CompileError(f"expected two different releases, got Triton {ends[0]} twice")
    known = [versions.installed().version if name in CURRENT else name for name in ends]
    (major, start), (other, stop) = (tuple(map(int, name.split(".")[:2])) for name in known)
    if major != other:
        return ends
    step = 1 if stop > start else -1
    return [ends[0], *(f"{major}.{minor}.0" for minor in range(start + step, stop, step)), ends[1]]


def normalise(version: str) -> str:
    """Normalise a version: ``3.6`` becomes ``3.6.0``; ``installed`` and ``current`` become ``installed``.

    Raises:
        KprofError: if this is not a version of Triton, or one that kprof does not support.
    """
    text = version.strip().lower()
    if text in CURRENT:
        return CURRENT[0]
    found = _RELEASE.fullmatch(text)
    if found is None:
        raise CompileError(
            f"--triton takes a release such as 3.6.0, or 'installed' for the running one, got {version!r}"
        )
    if (int(found[1]), int(found[2])) < MINIMUM:
        raise CompileError(f"Triton {version} is too old, kprof needs 3.4 or newer")
    return f"{text}.0" if re.fullmatch(r"\d+\.\d+", text) else text


def provide(version: str, *, installer: Installer | None = None, tell: Tell | None = None) -> Environment:
    """Return the environment of a version; install it if necessary.

    An existing environment needs no network access. Two processes do not install the same version at the same time: the
    second one waits. An unfinished installation is never used.

    Args:
        version: a version as :func:`normalise` returns it.
        installer: program that installs packages; by default uv if found, else pip.
        tell: called with a description of each slow step.

    Raises:
        KprofError: if there is no wheel for this Python and machine, no network or no installer, or the disk is full.
    """
    if version == CURRENT[0] or _is_running(version):
        return Environment(version)
    folder = root() / name_of(version)
    _check_owner()
    ready = _usable(folder, version)
    if ready is not None:
        return ready
    try:
        location.make_folder(root())
    except OSError as error:
        raise CompileError(
            f"the folder for other Tritons cannot be made: {error.strerror}",
            path=str(root()),
            hint="Set KPROF_CACHE_DIR to a folder that can be written to.",
        ) from error
    with _locked(root() / f".{folder.name}.lock", version, tell):
        # Another process may have installed it while this one waited.
        return _usable(folder, version) or _make(folder, version, installer or find_installer(), tell)


def name_of(version: str) -> str:
    """Return the folder name, ``3.6.0-py3.11``: extension modules work with one version of Python only."""
    kind = "" if platform.python_implementation() == "CPython" else f"{platform.python_implementation().lower()}-"
    return f"{version}-{kind}py{sys.version_info[0]}.{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"


def known() -> list[str]:
    """Return the versions that are installed for this Python, oldest first."""
    versions = [path.name.partition("-")[0] for path in root().glob("*-*") if not path.name.startswith(".")]
    ready = [v for v in versions if _RELEASE.fullmatch(v) and _usable(root() / name_of(v), v) is not None]
    return sorted(set(ready), key=lambda v: [int(n) for n in re.findall(r"\d+", v)])


def _is_running(version: str) -> bool:
    """Return whether the installed Triton is exactly this release; AMD's builds, such as 3.4.0+rocm7, are not."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution("triton")
    except PackageNotFoundError:
        return False
    # Version numbers cannot be trusted: a checkout or a foreign wheel may reuse a release's number.
    return found.version == version and found.read_text("direct_url.json") is None


def _usable(folder: Path, version: str) -> Environment | None:
    try:
        marker = json.loads((folder / _MARKER).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    whole = isinstance(marker, dict) and marker.get("layout") == _LAYOUT and marker.get("triton") == version
    if not whole or not (folder / "site" / "triton" / "__init__.py").is_file():
        return None
    return Environment(version, folder / "site")


def _check_owner() -> None:
    """Check that no other user can have written to the installation folder, because its Triton will be executed."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if not location.trusted(root().stat()):
            raise CompileError(
                "other users may write to this folder, whose contents would be executed",
                path=str(root()),
                hint="Remove it; kprof creates it again, with access for you alone.",
            )


@contextlib.contextmanager
def _locked(path: Path, version: str, tell: Tell | None) -> Iterator[None]:
    """Hold the lock of an environment, so no other process installs it."""

    def waiting() -> None:
        if tell is not None:
            tell(f"waiting for another process that is getting Triton {version}")

    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked(path, waiting))
        except OSError as error:
            raise CompileError(f"cannot be written: {error.strerror}", path=str(path.parent)) from error
        yield


def _make(folder: Path, version: str, installer: Installer, tell: Tell | None) -> Environment:
    if tell is not None:
        tell(f"getting Triton {version} with {installer.name}, once, into {folder}")
    # Remove the folders of interrupted runs. This process holds the lock.
    for left in root().glob(f".{folder.name}.part*"):
        shutil.rmtree(left, ignore_errors=True)
    partial: Path | None = None
    try:
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.part", dir=root()))
        installer.install(f"triton=={version}", partial / "site")
        if not (partial / "site" / "triton" / "__init__.py").is_file():
            raise CompileError(f"{installer.name} reports success, but there is no Triton {version}", path=str(partial))
        made_by = {"layout": _LAYOUT, "triton": version, "installer": installer.name, "python": sys.version.split()[0]}
        (partial / _MARKER).write_text(json.dumps(made_by))
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(partial, folder)  # noqa: PTH105  # both are paths, and the intent is atomic
    except OSError as error:
        raise CompileError(
            f"Triton {version} cannot be kept: {error.strerror or error}",
            path=str(root()),
            hint="It takes up to 1 GiB. Set KPROF_CACHE_DIR to a folder with enough space.",
        ) from error
    finally:
        if partial is not None and partial.exists():
            shutil.rmtree(partial, ignore_errors=True)
    return Environment(version, folder / "site")
