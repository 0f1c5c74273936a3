"""KP741 to KP744: problems found by compiling a bucket."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from msgspec import UNSET

from kprof.document import KernelReport
from kprof.findings import Finding, Location, Severity
from kprof_analyzers.rules import known_rules
from kprof_servers.configs.checks.check import ConfigCheck, Context, Tried
from kprof_servers.configs.model import ConfigFile


class CompiledCheck(ConfigCheck):
    """A check of compiled buckets; it reports nothing without ``--compile``."""

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:
        """See :meth:`ConfigCheck.check`."""
        for bucket in file.buckets:
            tried = context.tried.get(bucket.place)
            found = None if tried is None else self.problem(tried)
            if tried is None or found is None:
                continue
            text, source = found
            related = [] if source is None else [source]
            kernel = f"kprof's {tried.kernel}" if tried.stand_in else tried.kernel
            with_triton = _compiler(tried.report)
            message = f"{bucket.name}: {text} ({kernel} with these knobs{with_triton})"
            # If a bundled kernel replaced the file's own kernel, its problems are a strong hint but not a proof.
            weaker = Severity.WARNING if tried.stand_in else self.severity
            yield self.finding(file, bucket.place, message, related=related, severity=weaker, bucket=bucket.name)

    @abstractmethod
    def problem(self, tried: Tried) -> tuple[str, Location | None] | None:
        """Return a description of the problem and its line in the kernel, or ``None`` if there is no problem."""


class SpillsInLoop(CompiledCheck):
    """With this bucket's knobs the kernel spills registers inside a loop.

    ## What it does
    With `--compile`: compiles the kernel for each bucket and looks for scratch accesses in loops. The kernel is the one
    named with `--kernel`, or a bundled kernel with the same function; the message names it.

    ## Why it matters
    Spills in a loop are a frequent reason why a retuned file is slow, and the usual effect of a new Triton on an old
    file. They are evidence, not proof: some spilling configurations are the fastest.

    ## What to try
    Run `kprof advise` with the same knobs, or use a smaller tile; then measure.
    """

    id: ClassVar[str] = "KP741"
    name: ClassVar[str] = "config-spills-in-loop"
    severity: ClassVar[Severity] = Severity.WARNING

    def problem(self, tried: Tried) -> tuple[str, Location | None] | None:
        """See :meth:`CompiledCheck.problem`."""
        return _first(tried, {rule.id for rule in known_rules() if "loop_spills" in rule.restates})


class ConfigLdsOverLimit(CompiledCheck):
    """With this bucket's knobs the kernel needs more LDS than the GPU has.

    ## What it does
    With `--compile`: compares the LDS of each compiled bucket with the GPU's limit.

    ## Why it matters
    The kernel compiles, but its launch fails with `OutOfResources`. Whether the same knobs fit depends on Triton's
    version.

    ## What to try
    Use a lower `num_stages` or a smaller `BLOCK_K`.
    """

    id: ClassVar[str] = "KP742"
    name: ClassVar[str] = "config-lds-over-limit"
    severity: ClassVar[Severity] = Severity.ERROR

    def problem(self, tried: Tried) -> tuple[str, Location | None] | None:
        """See :meth:`CompiledCheck.problem`."""
        return _first(tried, {rule.id for rule in known_rules() if "lds_over_limit" in rule.restates})


class LaunchLimit(CompiledCheck):
    """With this bucket's knobs the launch exceeds a limit of the GPU.

    ## What it does
    With `--compile`: looks for kernels that compile but cannot be launched, for example with too large a workgroup.

    ## Why it matters
    The kernel compiles, but its launch fails.

    ## What to try
    Use fewer warps.
    """

    id: ClassVar[str] = "KP743"
    name: ClassVar[str] = "config-over-launch-limit"
    severity: ClassVar[Severity] = Severity.ERROR

    def problem(self, tried: Tried) -> tuple[str, Location | None] | None:
        """See :meth:`CompiledCheck.problem`."""
        others = (rule for rule in known_rules() if "lds_over_limit" not in rule.restates)
        return _first(tried, {rule.id for rule in others if rule.launch_fails})


class DoesNotCompile(CompiledCheck):
    """With this bucket's knobs the kernel does not compile.

    ## What it does
    With `--compile` and `--target`: reports Triton's message. If a bundled kernel is compiled in place of the real one,
    a failure only means that it cannot replace the real one, and becomes a note on the file.

    ## Why it matters
    The first launch with such a size fails with the compiler's error, or aborts the process.

    ## What to try
    Follow the message, or use other knobs.
    """

    id: ClassVar[str] = "KP744"
    name: ClassVar[str] = "config-does-not-compile"
    severity: ClassVar[Severity] = Severity.ERROR

    def problem(self, tried: Tried) -> tuple[str, Location | None] | None:
        """See :meth:`CompiledCheck.problem`."""
        return None if tried.error is None or tried.stand_in else (tried.error, None)


def _first(tried: Tried, rules: set[str]) -> tuple[str, Location | None] | None:
    """Return the message and the place of the first finding of the given rules."""
    findings = [] if tried.report is None else [f for f in tried.report.findings if f.rule in rules]
    if not findings:
        return None
    place = findings[0].location
    return findings[0].message, None if place is UNSET else place


def _compiler(report: KernelReport | None) -> str:
    return f", Triton {report.triton}" if report is not None and report.triton is not UNSET else ""
