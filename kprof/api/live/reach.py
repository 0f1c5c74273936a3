"""Limits on the files that an agent can make kprof read, and on the code it can make kprof run."""

import os
from dataclasses import dataclass
from pathlib import Path

from kprof.errors import TargetError
from kprof.targets.target import resolve


@dataclass(frozen=True)
class Reach:
    """The folders whose files may be read, and whether code of a target may run.

    Attributes:
        roots: resolved paths of the folders.
        run: whether Python files are imported, HIP sources compiled and programs started.
    """

    roots: tuple[Path, ...]
    run: bool = False

    def target(self, target: str) -> str:
        """Check a target that an agent names and return it for the API, with a path made absolute.

        Raises:
            TargetError: the path is outside the folders, or the target is code that must not run.
        """
        name, separator, rest = target.partition("::")
        full = f"{self.path(name)}{separator}{rest}" if _is_path(name) else target
        would_run = None if self.run else resolve(full).would_run
        if would_run is not None:
            raise TargetError(
                f"would be {would_run}, and this server does not run foreign code",
                path=name,
                hint="Start it with --allow-run, or give a capture, an assembly file or a bundled kernel.",
            )
        return full

    def path(self, text: str) -> Path:
        """Check that a path is inside the folders, and return it as an absolute path with symbolic links resolved.

        Raises:
            TargetError: the path is outside the folders, or is not a valid path.
        """
        if "\0" in text:
            raise TargetError("holds a null byte", path=repr(text))
        # os.path.expanduser leaves the home of an unknown user unchanged, so "~x" is treated as a file name.
        path = Path(os.path.expanduser(text))  # noqa: PTH111 - pathlib raises there
        try:
            path = (path if path.is_absolute() else self.roots[0] / path).resolve()
        except (OSError, RuntimeError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "is a loop of links"
            raise TargetError(reason, path=f"{text[:80]}…" if len(text) > 80 else text) from None
        if os.path.islink(path):  # noqa: PTH114 - pathlib raises for a name that is longer than any file's
            # Newer Python releases resolve a link that points to itself to the link, instead of raising an error.
            raise TargetError("is a loop of links", path=text)
        if not any(path.is_relative_to(root) for root in self.roots):
            listed = ", ".join(map(str, self.roots))
            raise TargetError(
                "is outside the folders that this server reads",
                path=text,
                hint=f"It reads {listed}; --folder adds a folder.",
            )
        return path


def _is_path(name: str) -> bool:
    return "/" in name or "\\" in name or name.startswith((".", "~")) or "." in name or _exists(name)


def _exists(name: str) -> bool:
    try:
        return os.path.lexists(name)
    except (OSError, ValueError):
        # The name is too long or contains a null byte; the error is reported when the file is read.
        return False


def folders(given: list[str]) -> tuple[Path, ...]:
    """Return the resolved paths of folders.

    Raises:
        TargetError: a folder does not exist.
    """
    found = tuple(Path(each).resolve() for each in given)
    for path, each in zip(found, given, strict=True):
        if not path.is_dir():
            raise TargetError("is not a folder", path=each)
    return found
