"""What a check of tuned configurations is: one class, whose docstring is its page in the documentation."""

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
    """What came of compiling a bucket.

    Attributes:
        kernel: the kernel that was compiled.
        stand_in: it is one of kprof's that does the same job, not the one that the file is for.
        report: the analysed kernel; ``None`` when it did not compile.
        error: why it did not.
    """

    kernel: str
    stand_in: bool
    report: KernelReport | None = None
    error: str | None = None


@dataclass(frozen=True)
class Context:
    """What a check may know besides the file itself.

    Attributes:
        machine: the GPU that the file is for.
        families: files of the same architecture and family, this one among them.
        tried: place of a bucket to what came of compiling it.
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
        severity: unless a finding says otherwise.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]

    @abstractmethod
    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:
        """Findings for one file."""

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
        """A finding of this check at a place of the file, its first line when there is none."""
        at = place or JsonPlace(1, 1)
        return Finding(
            rule=self.id,
            name=self.name,
            severity=severity or self.severity,
            message=message,
            location=Location(file=file.path, line=at.line, column=at.column),
            related=list(related),
            evidence={name: _plain(item) for name, item in evidence.items()},
        )


def _plain(value: Any) -> Any:
    """A value as JSON of every reader can hold it."""
    return str(value) if isinstance(value, int) and abs(value) >= 1 << 53 else value


class BucketCheck(ConfigCheck):
    """A check that looks at one configuration after the other."""

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:
        """See :meth:`ConfigCheck.check`."""
        for bucket in file.buckets:
            yield from self.bucket(file, bucket, context)

    @abstractmethod
    def bucket(self, file: ConfigFile, bucket: Bucket, context: Context) -> Iterable[Finding]:
        """Findings for one configuration."""


def whole(value: Any) -> bool:
    """Whether a value is a whole number, and not a truth value."""
    return isinstance(value, int) and not isinstance(value, bool)
