"""Load extensions of kprof, found through the entry points of installed distributions.

A distribution adds a command in the group ``kprof.commands`` (a module like those in ``kprof/cli``), a public function
in ``kprof.functions``, checks of files in ``kprof.checks``, a document with a schema in ``kprof.documents``, and
analyzers in ``kprof.analyzers``.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_SERVERS = "kprof_servers"
_APART = {
    "kprof.commands": {"configs": _SERVERS, "lint": _SERVERS},
    "kprof.documents": {"server-configs": _SERVERS},
    "kprof.functions": {"lint_configs": _SERVERS, "server_configs": _SERVERS},
}
"""Names and packages of extensions that kprof's wheel contains outside its core, by entry point group.

Errors about a missing extension name its package.
"""


class MissingPackageError(KprofError):
    """The package of an extension is not installed."""


def entries(group: str) -> "dict[str, EntryPoint]":
    """Return the entry points of a group by name, whether or not they can be loaded."""
    import sys

    return _entries(group, tuple(sys.path))


@lru_cache(maxsize=32)
def _entries(group: str, _path: tuple[str, ...]) -> "dict[str, EntryPoint]":
    """Return the entry points of a group; cached per search path, because scanning all distributions is slow."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=group)}


def load(group: str, name: str) -> Any:
    """Load the object that an entry point names; return ``None`` if there is no entry point of this name.

    Raises:
        MissingPackageError: the package of the entry point, or of an extension in kprof's own wheel, is not installed.
    """
    entry = entries(group).get(name)
    if entry is None:
        if package := _APART.get(group, {}).get(name):
            raise MissingPackageError(_missing(name, package))
        return None
    if not _is_installed(entry):
        raise MissingPackageError(_missing(name, _package(entry)))
    return entry.load()


def load_all(group: str) -> list[Any]:
    """Load every entry point of a group whose package is installed."""
    return [load(group, name) for name in installed(group)]


def packages() -> list[str]:
    """Return the sorted names of the top-level packages that provide extensions other than analyzers."""
    groups = ("kprof.checks", *_APART)
    return sorted({_package(entry) for group in groups for entry in entries(group).values()})


def installed(group: str) -> list[str]:
    """Return the sorted names of the entry points whose package is installed."""
    return sorted(name for name, entry in entries(group).items() if _is_installed(entry))


def _package(entry: "EntryPoint") -> str:
    return entry.value.partition(":")[0].partition(".")[0]


def _is_installed(entry: "EntryPoint") -> bool:
    from importlib.util import find_spec

    return find_spec(_package(entry)) is not None


def _missing(name: str, package: str) -> str:
    source = "install kprof again" if package == _SERVERS else f"install {package}"
    return f"{name} needs the package {package}, which is not installed: {source}"


def install_command(extra: str) -> str:
    """Return the command that installs the packages of one of kprof's extras.

    The command names the extra's packages instead of kprof, because kprof itself is not on a package index.

    Args:
        extra: name of the extra, for example ``view``.
    """
    from importlib.metadata import PackageNotFoundError, requires

    try:
        wanted = [line.partition(";") for line in requires("kprof") or ()]
    except PackageNotFoundError:
        wanted = []
    marker = re.compile(rf"extra == [\"']{extra}[\"']")
    names = sorted(name.strip() for name, _, condition in wanted if marker.search(condition))
    return f"pip install {' '.join(map(repr, names))}" if names else f"install what kprof's extra {extra!r} names"
