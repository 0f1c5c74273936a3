"""Packages with the measured kernels: installations, unpacked wheels or checkouts that the user names."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kprof.errors import KprofError

OTHERS = (
    ("torch", "PyTorch", "", "torch/_inductor/kernel"),
    ("tritonblas", "tritonBLAS", "include", "tritonblas/kernels"),
    ("tritonblas", "tritonBLAS", "", "tritonblas/kernels"),
    ("perf-kernels", "ROCm/triton perf-kernels", "", "python/perf-kernels"),
)
"""Packages besides servers: name, display name, the folder that contains the package, and a folder inside it."""


@dataclass(frozen=True)
class Package:
    """A package on this machine, which is never imported.

    Attributes:
        name: name in :data:`kprof_servers.served.registry.SERVERS` or :data:`OTHERS`.
        shown: display name.
        version: version of the distribution, or the commit; ``unknown`` if neither is recorded.
        root: folder that contains the package.
    """

    name: str
    shown: str
    version: str
    root: Path

    @property
    def words(self) -> str:
        """``vLLM 0.33.0``."""
        return f"{self.shown} {self.version}"


def packages(folders: Sequence[str]) -> dict[str, Package]:
    """Return the packages in some folders by name; the first folder with a package is used.

    Args:
        folders: checkouts, folders that packages are installed in, or virtual environments.

    Raises:
        KprofError: a folder contains no package with a known kernel.
    """
    from kprof_servers.served.registry import SERVERS

    found: dict[str, Package] = {}
    for folder in folders:
        here = [one for place in _places(Path(folder)) if (one := _packages_of(place))]
        if not here:
            known = [*(f"{each.package}/{each.sign}" for each in SERVERS.values()), *(sign for *_, sign in OTHERS)]
            names = ", ".join(dict.fromkeys(known))
            raise KprofError("no package with measured kernels in it", path=folder, hint=f"It has one of {names}.")
        for each in here:
            found = {**each, **found}
    return found


def _places(folder: Path) -> list[Path]:
    """Yield the folder itself, and the package folder of a virtual environment."""
    return [folder, *sorted(folder.glob("lib/python3*/site-packages"))]


def _packages_of(place: Path) -> dict[str, Package]:
    from kprof_servers.served.lookup import server_code, version_of
    from kprof_servers.served.registry import SERVERS

    found = {}
    for name, server in SERVERS.items():
        try:
            code = server_code(server, str(place))
        except KprofError:
            continue
        if code is not None:
            found[name] = Package(name, server.shown, code.version, code.root)
    for name, shown, below, sign in OTHERS:
        root = place / below
        if (root / sign).is_dir():
            found[name] = Package(name, shown, version_of(root, sign.partition("/")[0]), root)
    return found
