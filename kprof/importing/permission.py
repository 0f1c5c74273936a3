"""Decide whether users' code may run, before a file is imported, a program started or a compiler called.

A server for agents forbids users' code in its own process and, through the environment, in every process that it
starts. A code path that forgets the check is therefore stopped where the code would run.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from kprof.errors import TargetError

VARIABLE = "KPROF_ALLOW_RUN"
"""Environment variable: any value that is not affirmative forbids users' code in this process and its children."""


def forbid() -> None:
    """Forbid users' code from now on, in this process and its child processes."""
    os.environ[VARIABLE] = "0"


def distrust(folders: Sequence[Path]) -> None:
    """Remove folders, and everything below them, from the import path of this process and its children.

    Otherwise Python would import a file in these folders instead of a library with the same name. kprof's own folder
    and the entries of ``PYTHONPATH``, which somebody has set on purpose, are kept.
    """
    own = Path(__file__).resolve().parents[2]
    named = {Path(entry).resolve() for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry}

    def is_distrusted(entry: str) -> bool:
        place = Path(entry or ".").resolve()
        return (
            place != own
            and place not in named
            and any(place.is_relative_to(folder) for folder in folders)
            and not _is_installed(place)
        )

    sys.path[:] = [entry for entry in sys.path if not is_distrusted(entry)]


def _is_installed(place: Path) -> bool:
    """Return whether a folder belongs to this Python's installation, which may be below any folder."""
    return any(place.is_relative_to(Path(prefix).resolve()) for prefix in {sys.prefix, sys.base_prefix})


def is_allowed() -> bool:
    """Return whether users' code may run; any value that is not clearly affirmative forbids it."""
    return os.environ.get(VARIABLE, "1").lower() in {"1", "on", "yes", "true"}


def require(path: "str | os.PathLike[str]", would: str) -> None:
    """Raise an error if users' code must not run.

    Args:
        path: the file or program.
        would: what kprof would do with it, as in ``imported as Python``.

    Raises:
        TargetError: running code is forbidden, and the file is not one of kprof's own kernels.
    """
    if is_allowed() or is_own(path):
        return
    raise TargetError(
        f"would be {would}, but this kprof may not run user code",
        path=os.fspath(path),
        hint=f"Start the server with --allow-run, or unset {VARIABLE}. Compiled code is "
        "only read, so it needs no permission.",
    )


def own_folder() -> Path:
    """Return the folder of the bundled kernels: ``kernels/`` of a checkout, ``kprof/_kernels`` of a wheel.

    Raises:
        TargetError: the installation has neither.
    """
    package = Path(__file__).resolve().parent.parent
    for place in (package / "_kernels", package.parent / "kernels"):
        if (place / "softmax.py").is_file():
            return place
    raise TargetError("the bundled kernels are missing", path=str(package), hint="install kprof again")


def is_own(path: "str | os.PathLike[str]") -> bool:
    """Return whether a file is one of kprof's own kernels, after following symbolic links."""
    try:
        return Path(path).resolve().parent == own_folder().resolve()
    except (OSError, RuntimeError, ValueError, TargetError):
        return False
