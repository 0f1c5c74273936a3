"""KP701 invalid-json and KP702 duplicate-key."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.findings import Finding, Location, Severity
from kprof_servers.configs.checks.check import ConfigCheck, Context
from kprof_servers.configs.model import ConfigFile


class InvalidText(ConfigCheck):
    """The file is not valid JSON (or, with `triton.Config`, not valid Python).

    ## What it does
    Reads the file strictly and reports the line, the column and the mistake: a comma before a closing bracket, a
    comment, single quotes, or a file that ends too early.

    ## Why it matters
    Loaders either fail with an exception at the first launch, or catch it and silently use untuned defaults. In a
    published case, one trailing comma made a kernel slower by a factor of 3.7.

    ## What to try
    Correct the text at the reported place.
    """

    id: ClassVar[str] = "KP701"
    name: ClassVar[str] = "invalid-config-text"
    severity: ClassVar[Severity] = Severity.ERROR

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:  # noqa: ARG002 - the base class's
        """See :meth:`ConfigCheck.check`."""
        if file.broken is not None:
            place = file.broken.place
            where = f"line {place.line}, column {place.column}"
            kind = "Python" if file.path.endswith(".py") else "JSON"
            yield self.finding(file, place, f"not valid {kind}: {where}: {file.broken.reason}")


class DuplicateKey(ConfigCheck):
    """A key occurs twice in the same JSON object.

    ## What it does
    Finds repeated keys at every level and names both lines.

    ## Why it matters
    JSON readers keep the last value and silently drop the others, so that a tuned bucket or knob is never used.

    ## What to try
    Remove one of them.
    """

    id: ClassVar[str] = "KP702"
    name: ClassVar[str] = "duplicate-key"
    severity: ClassVar[Severity] = Severity.ERROR

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:  # noqa: ARG002 - the base class's
        """See :meth:`ConfigCheck.check`."""
        for path, first, second in file.repeated:
            inside = f" of {'/'.join(path)}" if path else ""
            same = first.value.plain() == second.value.plain()
            text = f"the key {second.key!r}{inside} is also in line {first.place.line}; the last one counts"
            yield self.finding(
                file,
                second.place,
                text + (", both have the same value" if same else ""),
                related=[Location(file=file.path, line=first.place.line, column=first.place.column)],
                severity=Severity.WARNING if same else None,
                key=second.key,
            )
