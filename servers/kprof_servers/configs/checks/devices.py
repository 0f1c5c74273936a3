"""KP727 unknown-device."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.findings import Finding, Severity
from kprof_servers.configs.checks.check import ConfigCheck, Context
from kprof_servers.configs.model import ConfigFile


class UnknownDevice(ConfigCheck):
    """The device or architecture in the file's name or folder is not known.

    ## What it does
    Looks for the name among kprof's products and architectures and names near ones. Other makers' devices are not
    judged: of their files only the text, the keys and the buckets are checked.

    ## Why it matters
    A loader puts the name together from what the driver says. One wrong letter, and the file is never opened. For an
    unknown GPU nothing can be said about values that it may not have.

    ## What to try
    Correct the name. When the GPU is only too new for kprof, `--arch` says what it is like.
    """

    id: ClassVar[str] = "KP727"
    name: ClassVar[str] = "unknown-device"
    severity: ClassVar[Severity] = Severity.WARNING

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:
        """See :meth:`ConfigCheck.check`."""
        if context.machine.problem is not None:
            severity = None if "did you mean" in context.machine.problem else Severity.NOTE
            yield self.finding(file, None, context.machine.problem, severity=severity)
