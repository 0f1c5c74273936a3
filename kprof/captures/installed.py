"""Compare the package files that a capture depends on with this Python's packages. Imports only standard modules."""

import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from kprof.captures.staleness import LIMIT, digest
from kprof.inputs.opening import head_of

_MAX_TOP_LEVEL_BYTES = 1 << 16
"""Maximum number of bytes to read from a distribution's ``top_level.txt``, which lists its packages."""
_PLACES = frozenset({"site-packages", "dist-packages"})


def name_in_package(path: str) -> str | None:
    """Return a file's path below ``site-packages``, such as ``vllm/configs/a.json``; ``None`` for files elsewhere."""
    parts = Path(path).parts
    at = max((number for number, part in enumerate(parts) if part in _PLACES), default=None)
    name = "/".join(parts[at + 1 :]) if at is not None else ""
    return name or None


def package_of(name: str) -> str:
    """Return the package of a path below ``site-packages``: its first folder, or its file if it has no folder."""
    return name.partition("/")[0]


def packages_of(files: Iterable[str]) -> frozenset[str]:
    """Return the packages that contain the files; files outside of packages are ignored."""
    return frozenset(package_of(name) for name in map(name_in_package, files) if name is not None)


def package_digests(paths: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file in a package, by its path below ``site-packages``."""
    found: dict[str, str] = {}
    for path in paths:
        name = name_in_package(path)
        content = digest(Path(path)) if name is not None and len(found) < LIMIT else None
        if name is not None and content is not None:
            found[name] = content
    return dict(sorted(found.items()))


def distributions(packages: Collection[str]) -> dict[str, str]:
    """Map packages to the distribution that installed them, for example ``triton_kernels`` to ``triton-kernels==1.2``.

    A package that belongs to no distribution, or to several as a namespace package does, is left out.
    """
    if not packages:
        return {}
    from importlib import metadata

    known = metadata.packages_distributions()
    owners = {package: set(known.get(package, ())) for package in packages}
    return {package: f"{name}=={metadata.version(name)}" for package, (name, *more) in _lists(owners) if not more}


def imported_versions(files: Mapping[str, str], without: Collection[str]) -> dict[str, str]:
    """Return the version of each distribution that contains a given module, by the distribution's name.

    To save time, only the names of ``.dist-info`` folders and their ``top_level.txt`` are read. A distribution is
    ignored if neither of them names the module's package.

    Args:
        files: each module's path below ``site-packages``, by its full path.
        without: packages whose modules are ignored.
    """
    places: dict[str, set[str]] = {}
    for file, name in files.items():
        if (package := package_of(name)) not in without:
            places.setdefault(file[: -len(name)], set()).add(_normal(package.removesuffix(".py")))
    found: dict[str, str] = {}
    for folder, packages in places.items():
        for facts, distribution, version in _facts_in(folder):
            names = {_normal(distribution)}
            if not names & packages:
                names = {_normal(line) for line in _lines(f"{folder}{facts}/top_level.txt")}
            if names & packages:
                found[distribution] = version
    return dict(sorted(found.items()))


def _facts_in(folder: str) -> Iterator[tuple[str, str, str]]:
    """Yield folder name, distribution, and version without build suffix of each ``.dist-info`` folder in a folder."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - faster for hundreds of entries
    except OSError:
        return
    for name in names:
        distribution, dash, version = name.removesuffix(".dist-info").partition("-")
        if name.endswith(".dist-info") and dash:
            yield name, distribution, _without_build_suffix(version)


def _lines(path: str) -> list[str]:
    return head_of(path, _MAX_TOP_LEVEL_BYTES).decode("utf-8", "replace").split()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _without_build_suffix(version: str) -> str:
    """Return a version without its build suffix: ``2.13.0`` for ``2.13.0+cpu``."""
    return version.partition("+")[0]


def other_versions(imported: Mapping[str, str]) -> list[str]:
    """Return a phrase for each distribution whose installed version differs from the recorded one.

    A phrase names both versions: ``numpy 2.1 (here 2.2)``.
    """
    from importlib import metadata

    found = []
    for name, had in imported.items():
        if not name:
            # Python 3.10's metadata.version returns the version of the first distribution for an empty name.
            continue
        try:
            here = _without_build_suffix(metadata.version(name))
        except (metadata.PackageNotFoundError, ValueError):
            continue
        if here != had:
            found.append(f"{name} {had} (here {here})")
    return found


def _lists(owners: Mapping[str, set[str]]) -> list[tuple[str, list[str]]]:
    return [(package, sorted(names)) for package, names in owners.items() if names]


class InstalledFiles:
    """Files of this Python's packages, compared with those that a capture was made from.

    Attributes:
        other_versions: recorded distributions whose installed version differs now; their files are not compared.

    Args:
        files: SHA-256 of each file at the time of the recording, by path below ``site-packages``.
        absent: paths below ``site-packages`` that the recorded program looked for and did not find.
        versions: recorded distribution and version of each package without kernels in the capture. If another version
            is installed now, differences between its data files mean nothing, so they are not compared.
    """

    def __init__(self, files: Mapping[str, str], absent: Iterable[str], versions: Mapping[str, str] = {}) -> None:
        self._files = {name: had for name, had in files.items() if _is_plain(name)}
        self._absent = [name for name in absent if _is_plain(name)]
        folders = [entry for entry in sys.path if os.path.basename(entry.rstrip(os.sep)) in _PLACES]  # noqa: PTH119 - the entries are strings
        self._places = {package: _place(package, folders) for package in {package_of(n) for n in (*files, *absent)}}
        there = {package for package, place in self._places.items() if place is not None}
        now = distributions(there & versions.keys())
        self._unlike = {
            package: now.get(package) for package in there & versions.keys() if now.get(package) != versions[package]
        }
        self.other_versions = sorted(
            f"{versions[package]} (here {version or 'of no distribution'})" for package, version in self._unlike.items()
        )
        self._places |= dict.fromkeys(self._unlike)

    @property
    def missing(self) -> list[str]:
        """Packages that are not installed in this Python, so that their files cannot be compared."""
        return sorted(
            package for package, place in self._places.items() if place is None and package not in self._unlike
        )

    def changed(self) -> list[str]:
        """Return a phrase for each file that differs from the recording: ``liger_kernel/ops/swiglu.py changed``."""
        found = []
        for name, had in self._files.items():
            place = self._places[package_of(name)]
            if place is not None and (now := digest(place / name)) != had:
                found.append(f"{name} {'is gone' if now is None else 'changed'}")
        return found

    def appeared(self) -> list[str]:
        """Return the paths that were absent during the recording and exist now."""
        found = []
        for name in self._absent:
            place = self._places[package_of(name)]
            if place is not None and os.path.exists(place / name):  # noqa: PTH110 - raises no error for any name
                found.append(name)
        return found


def _place(package: str, folders: Iterable[str]) -> Path | None:
    """Return the first of ``folders`` that contains a package, or ``None`` if the package is not installed."""
    return next((Path(folder) for folder in folders if os.path.lexists(os.path.join(folder, package))), None)  # noqa: PTH118 - raises no error for any name


def _is_plain(name: str) -> bool:
    """Return whether a path from a capture stays inside the folder that it is joined to.

    Captures are untrusted: an absolute path or ``..`` may lead to any other file.
    """
    pure = PurePosixPath(name)
    return not pure.is_absolute() and ".." not in pure.parts and "\0" not in name
