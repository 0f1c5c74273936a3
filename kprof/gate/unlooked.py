"""What a check that is ok has not looked at, or looked away from: words for the verdict's line."""

from collections.abc import Iterator, Sequence

from kprof.document import KernelReport
from kprof.gate.baseline import Baseline
from kprof.gate.config import WATCHED, Config
from kprof.gate.rules import ALLOWED, MARK
from kprof.gate.subject import CheckSubject
from kprof.targets.options import DEFAULT_ARCH


def unlooked(
    config: Config,
    baseline: Baseline | None,
    subjects: Sequence[CheckSubject],
    kernels: Sequence[KernelReport],
    unused: int,
) -> Iterator[str]:
    """Settings that take something out of the verdict, and what the baseline has for other architectures.

    Args:
        config: the configuration.
        baseline: the accepted state, where there is one.
        subjects: what was checked.
        kernels: the same as judged.
        unused: allowances that nothing needs.
    """
    entries = [*config.kernel, *(program.entry() for program in config.program)]
    if not config.arch and any(not entry.arch for entry in entries):
        yield f"no arch is named, {DEFAULT_ARCH} was taken"
    if config.fail_on == "never":
        yield 'findings do not count (fail_on = "never")'
    if baseline is not None:
        ignored = [metric for metric in WATCHED if metric not in config.watch]
        if ignored:
            yield f"{', '.join(ignored)} not compared (watch)"
        yield from _other_architectures(baseline, subjects)
    allowed = sum(s.finding.evidence.get(MARK) == ALLOWED for kernel in kernels for s in kernel.suppressed)
    if allowed:
        yield f"{allowed} {'is' if allowed == 1 else 'are'} worse and allowed"
    if unused:
        yield f"{unused} {'allowance is' if unused == 1 else 'allowances are'} not needed"


def _other_architectures(baseline: Baseline, subjects: Sequence[CheckSubject]) -> Iterator[str]:
    """Architectures of the baseline that this run has not looked at."""
    here = {subject.report.arch for subject in subjects}
    others = {arch for specs in baseline.kernels.values() for archs in specs.values() for arch in archs} - here
    if others:
        yield f"the baseline also has {', '.join(sorted(others))}, not looked at"
