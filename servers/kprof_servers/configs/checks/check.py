"""Base class of checks of tuned configurations. A check is one class; its docstring is its documentation page."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kprof.document import KernelReport
from kprof.findings import Finding, Location, Severity
from kprof_servers.configs.devices import FileDevice
from kprof_servers.configs.json_text import JsonPlace
from kprof_servers.configs.model import Bucket, ConfigFile


@dataclass(frozen=True)
class Tried:
    """The result of compiling a bucket.

    Attributes:
        kernel: the kernel that was compiled.
        stand_in: True if kprof compiled a similar bundled kernel instead of the file's own kernel; see :class:`.Stand`.
        report: the analysed kernel; ``None`` if it did not compile.
        error: reason why the kernel did not compile; "" if it did.
    """

    kernel: str
    stand_in: bool
    report: KernelReport | None = None
    error: str | None = None


@dataclass(frozen=True)
class Context:
    """The information that checks use in addition to the checked file.

    Attributes:
        machine: the GPU that the file is for.
        families: all checked files of the same architecture and kernel family, including the file itself.
        tried: map from the line and column of a bucket to the result of compiling it.
    """

    machine: FileDevice
    families: Sequence[ConfigFile] = field(default_factory=tuple)
    tried: Mapping[JsonPlace, Tried] = field(default_factory=dict)


class ConfigCheck(ABC):
    """Base of all checks.

    The docstring of a subclass has the headings *What it does*, *Why it matters* and *What to try*.

    Attributes:
        id: ``KP7`` and two digits.
        name: the bad pattern in kebab-case.
        severity: default severity of the findings.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]

    @abstractmethod
    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:
        """Yield the findings for one file."""

    def finding(
        self,
        file: ConfigFile,
        place: JsonPlace | None,
        message: str,
        *,
        related: Sequence[Location] = (),
        severity: Severity | None = None,
        **evidence: Any,
    ) -> Finding:
        """Create a finding of this check at a place in the file, by default its first line."""
        at = place or JsonPlace(1, 1)
        return Finding(
            rule=self.id,
            name=self.name,
            severity=severity or self.severity,
            message=message,
            location=Location(file=file.path, line=at.line, column=at.column),
            related=list(related),
            evidence={name: _json_safe(item) for name, item in evidence.items()},
        )


def _json_safe(value: Any) -> Any:
    """Convert integers of 2^53 and more to text, because some JSON readers cannot represent them exactly."""
    return str(value) if isinstance(value, int) and abs(value) >= 1 << 53 else value


class BucketCheck(ConfigCheck):
    """Base of checks that examine each bucket of a file independently of the other buckets."""

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:
        """See :meth:`ConfigCheck.check`."""
        for bucket in file.buckets:
            yield from self.bucket(file, bucket, context)

    @abstractmethod
    def bucket(self, file: ConfigFile, bucket: Bucket, context: Context) -> Iterable[Finding]:
        """Yield the findings for one configuration."""


def whole(value: Any) -> bool:
    """Return whether a value is an integer; booleans do not count as integers."""
    return isinstance(value, int) and not isinstance(value, bool)
