"""The program's own files, as far as Python has loaded or read them. Standard library only."""

import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kprof.captures.installed import distributions, name_in_package, package_digests, package_of, packages_of
from kprof.captures.staleness import LIMIT, digests, names_of, outside
from kprof.recording.files_read import Reads

_OURS = Path(__file__).resolve().parents[1]
_OWN_PACKAGES = frozenset({"kprof", "kprof_analyzers", "triton"})
"""Another Triton compiles again, whatever its files are; another kprof judges again."""


def of_command(root: Path, folder: Path, command: Sequence[str]) -> dict[str, str]:
    """Files that a command line names: the program, and what it is given to read. Its interpreter is none of them."""
    named = (folder / part for part in command if part and (folder / part).is_file())
    return digests(root, (path for path in named if not _of_environment(path)))


def _of_environment(path: Path) -> bool:
    """Whether it belongs to a virtual environment, as ``.venv/bin/python`` does."""
    return any((place / "pyvenv.cfg").is_file() for place in path.absolute().parents)


def of_process(
    root: Path, reads: Reads | None = None, without: Sequence[str] = (), kernels: Iterable[str] = ()
) -> dict[str, Any]:
    """Files of the modules that this process has imported and of what it has read, kprof's and Python's own left out.

    Args:
        root: the work tree.
        reads: what was opened and looked for.
        without: folders in which nothing that is read counts.
        kernels: files of the kernels that were launched. Of installed packages those that have one count whole, of
            others the data that was read and looked for.

    Returns:
        ``files`` below the root and ``outside`` of it, each to its digest; ``packages``, ``distributions``, ``absent``,
        ``folders`` and ``written`` as the journal's record has them.
    """
    packages = packages_of(kernels) - _OWN_PACKAGES
    installed = [str(path) for path in _modules() if package_of(name_in_package(str(path)) or "") in packages]
    if reads is None:
        modules = list(_modules())
        of_packages = package_digests(installed)
        return {"files": digests(root, modules), "outside": outside(root, modules), "packages": of_packages}
    data, sought = reads.packaged()
    data = [name for name in data if package_of(name_in_package(name) or "") not in _OWN_PACKAGES]
    sought = [name for name in sought if package_of(name) not in _OWN_PACKAGES]
    held = package_digests([*installed, *data])
    others = {package_of(name) for name in (*held, *sought)} - packages
    paths = [*_modules(), *reads.files(root, without)]
    found: dict[str, Any] = {
        "files": digests(root, paths),
        "outside": outside(root, paths),
        "packages": held,
        "packages_absent": sorted(sought)[:LIMIT],
        "distributions": distributions(others),
        "absent": _names(root, reads.absent(root, without)),
        "folders": {name: had for path, had in reads.folders(root, without) for name in names_of(root, path)},
        "written": _names(root, reads.results(root, without)),
    }
    overflowed = reads.full or any(len(names) >= LIMIT for names in found.values())
    return {**found, "overflowed": True} if overflowed else found


def _names(root: Path, paths: Iterable[Path]) -> list[str]:
    return sorted({name for path in paths for name in names_of(root, path)})[:LIMIT]


def _modules() -> Iterator[Path]:
    library = Path(sysconfig.get_paths()["stdlib"])
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py"):
            continue
        path = Path(file)
        if _OURS not in path.resolve().parents and library not in path.parents:
            yield path
