"""Read the versions of packages from their files, since importing torch takes seconds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kprof.doctor.host import Host

_ASSIGNED = re.compile(r"^(__version__|hip|cuda)\s*(?::[^=\n]+)?=\s*(?:['\"]([^'\"\n]{0,80})['\"]|None)", re.MULTILINE)


@dataclass(frozen=True)
class Copy:
    """A copy of a package that Python can find.

    Attributes:
        folder: folder of the package.
        values: ``__version__``, ``hip`` and ``cuda``, if the file sets them to strings.
        distributions: names of the distributions that install it.
    """

    folder: Path
    values: dict[str, str]
    distributions: tuple[str, ...]

    @property
    def version(self) -> str:
        """The version, for example ``3.9.0``, or ``unknown``."""
        return self.values.get("__version__", "unknown")


def copies(machine: Host, package: str, file: str, distributions: tuple[str, ...]) -> list[Copy]:
    """Return every copy of a package on Python's path; the copy that would be imported comes first."""
    found: dict[Path, Copy] = {}
    for folder in machine.packages:
        text = machine.text(folder / package / file)
        if text is None:
            continue
        values = {match[1]: match[2] for match in _ASSIGNED.finditer(text) if match[2] is not None}
        names = tuple(_distributions(machine, folder, distributions))
        found.setdefault((folder / package).resolve(), Copy(folder / package, values, names))
    return list(found.values())


def _distributions(machine: Host, folder: Path, names: tuple[str, ...]) -> Iterator[str]:
    """Yield those of the distribution names in ``names`` that are installed in a folder."""
    for entry in machine.entries(folder):
        if entry.name.endswith(".dist-info"):
            name = entry.name.partition("-")[0].lower().replace("_", "-")
            if name in names:
                yield name
