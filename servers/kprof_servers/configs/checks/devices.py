"""KP727 unknown-device."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.findings import Finding, Severity
from kprof_servers.configs.checks.check import ConfigCheck, Context
from kprof_servers.configs.model import ConfigFile


class UnknownDevice(ConfigCheck):
    """The device or architecture in the name of the file or its folder is unknown.

    ## What it does
    Looks for the name among kprof's products and architectures, and suggests similar names. Devices of other vendors
    are not checked: for their files, only the text, the keys and the buckets are checked.

    ## Why it matters
    A loader builds the file name from the driver's device name. With one wrong letter, the file is never opened. For an
    unknown GPU, unsupported values cannot be found.

    ## What to try
    Correct the name. If the GPU is too new for kprof, name a similar architecture with `--arch`.
    """

    id: ClassVar[str] = "KP727"
    name: ClassVar[str] = "unknown-device"
    severity: ClassVar[Severity] = Severity.WARNING

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:
        """See :meth:`ConfigCheck.check`."""
        if context.machine.problem is not None:
            severity = None if "did you mean" in context.machine.problem else Severity.NOTE
            yield self.finding(file, None, context.machine.problem, severity=severity)
