"""What the processes of a capture say of their program's files, put together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kprof.captures.installed import package_of
from kprof.captures.records import Sources


@dataclass(frozen=True)
class ProgramFiles:
    """The files of several processes; the first that names one is right.

    Attributes:
        records: one a process.
    """

    records: Sequence[Sources]

    @cached_property
    def files(self) -> dict[str, str]:
        """Below the root, to their digests."""
        return {name: content for one in reversed(self.records) for name, content in one.files.items()}

    @cached_property
    def outside(self) -> dict[str, str]:
        """Those that are not below it."""
        return {name: content for one in reversed(self.records) for name, content in one.outside.items()}

    @cached_property
    def packages(self) -> dict[str, str]:
        """Files of installed packages."""
        return {name: content for one in reversed(self.records) for name, content in one.packages.items()}

    @cached_property
    def packages_absent(self) -> list[str]:
        """What one process looked for in them and did not find, without what another had."""
        sought = dict.fromkeys(name for one in self.records for name in one.packages_absent)
        return [name for name in sought if name not in self.packages]

    @cached_property
    def distributions(self) -> dict[str, str]:
        """Packages without kernels in any process, to the distribution that they are of."""
        plain = [{package_of(name) for name in one.packages} - one.distributions.keys() for one in self.records]
        with_kernels = set[str]().union(*plain)
        return {
            package: name
            for one in reversed(self.records)
            for package, name in one.distributions.items()
            if package not in with_kernels
        }

    @cached_property
    def imported(self) -> dict[str, str]:
        """Distributions that modules were imported from, to their versions."""
        return {name: version for one in reversed(self.records) for name, version in one.imported.items()}

    @cached_property
    def folders(self) -> dict[str, str]:
        """Folders that were listed, to the digests of the names in them."""
        return {name: had for one in reversed(self.records) for name, had in one.folders.items()}

    @property
    def overflowed(self) -> bool:
        """A process had more names than are kept."""
        return any(one.overflowed for one in self.records)

    @cached_property
    def absent(self) -> list[str]:
        """What one process looked for and did not find, without what another had or wrote."""
        had = {*self.files, *self.outside}.union(*(one.written for one in self.records))
        return [name for name in dict.fromkeys(name for one in self.records for name in one.absent) if name not in had]
