"""Collect the program's own files that Python loaded or read. Imports only the standard library."""

import os
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kprof.captures.installed import (
    distributions,
    imported_versions,
    name_in_package,
    package_digests,
    package_of,
    packages_of,
)
from kprof.captures.staleness import LIMIT, SourceNames, digests, named
from kprof.recording.files_read import Reads

_OURS = Path(__file__).resolve().parents[1]
_OWN_PACKAGES = frozenset({"kprof", "kprof_analyzers", "kprof_servers", "triton"})
"""Packages whose files are not recorded, because another version of kprof or Triton invalidates the results anyway."""


def of_command(root: Path, folder: Path, command: Sequence[str]) -> dict[str, str]:
    """Return the digests of files that a command line names: the program and its inputs, without the interpreter."""
    named = (folder / part for part in command if part and (folder / part).is_file())
    return digests(root, (path for path in named if not _of_environment(path)))


def _of_environment(path: Path) -> bool:
    """Return whether a file belongs to a virtual environment, such as ``.venv/bin/python``."""
    return any((place / "pyvenv.cfg").is_file() for place in path.absolute().parents)


def of_process(
    root: Path, reads: Reads | None = None, without: Sequence[str] = (), kernels: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the files of imported modules and the files read by this process, without those of kprof and Python.

    Args:
        root: the work tree.
        reads: files that were opened or looked up.
        without: folders whose files are left out.
        kernels: files of the launched kernels. An installed package with a kernel is included with all files; other
            packages, with the data files that were read or looked up.

    Returns:
        ``files`` below the root and ``outside`` of it, with their digests; ``packages``, ``distributions``,
        ``imported``, ``absent``, ``folders`` and ``written`` as in the journal's record.
    """
    names = SourceNames(root)
    modules = _modules(names)
    packages = packages_of(kernels) - _OWN_PACKAGES
    inside = {str(path): name for path in modules if (name := name_in_package(str(path)))}
    installed = [path for path, name in inside.items() if package_of(name) in packages]
    if reads is None:
        below, beside = named(names, modules)
        return {"files": below, "outside": beside, "packages": package_digests(installed)}
    data, sought = reads.packaged()
    data = [name for name in data if package_of(name_in_package(name) or "") not in _OWN_PACKAGES]
    sought = [name for name in sought if package_of(name) not in _OWN_PACKAGES]
    held = package_digests([*installed, *data])
    others = {package_of(name) for name in (*held, *sought)} - packages
    below, beside = named(names, [*modules, *reads.files(root, without)])
    found: dict[str, Any] = {
        "files": below,
        "outside": beside,
        "packages": held,
        "packages_absent": sorted(sought)[:LIMIT],
        "distributions": distributions(others),
        "imported": imported_versions(inside, _OWN_PACKAGES | packages),
        "absent": _digests_of_all(names, reads.absent(root, without)),
        "folders": {name: had for path, had in reads.folders(root, without) for name in names.of(path)},
        "written": _digests_of_all(names, reads.results(root, without)),
    }
    overflowed = reads.full or any(len(kind) >= LIMIT for kind in found.values())
    return {**found, "overflowed": True} if overflowed else found


def _digests_of_all(names: SourceNames, paths: Iterable[Path]) -> list[str]:
    return sorted({name for path in paths for name in names.of(path)})[:LIMIT]


def _modules(names: SourceNames) -> list[Path]:
    library = os.path.join(sysconfig.get_paths()["stdlib"], "")  # noqa: PTH118 - plain strings, because there are thousands of paths
    ours = os.path.join(_OURS, "")  # noqa: PTH118
    found = []
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py"):
            continue
        # Without a virtual environment, packages are installed below the standard library.
        if file.startswith(library) and name_in_package(file) is None:
            continue
        if not names.resolved(*os.path.split(os.path.abspath(file))).startswith(ours):  # noqa: PTH100
            found.append(Path(file))
    return found
