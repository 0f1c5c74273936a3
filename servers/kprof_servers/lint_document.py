"""The document of a ``kprof lint`` run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kprof.document import KernelReport, Report, Verdict
from kprof.findings import Finding, Location, Severity
from kprof.gate.anchors import relocated
from kprof.gate.rules import CANNOT_TELL, FAILS, MARK, UNKNOWN
from kprof.version import __version__

if TYPE_CHECKING:
    from kprof.errors import KprofError
    from kprof_servers.configs.compiling import CompiledConfigs
    from kprof_servers.configs.reading import FoundFiles


def document(
    entries: Sequence[KernelReport],
    found: "FoundFiles",
    tried: "CompiledConfigs | None",
    left_out: set[str],
    fail_on: str,
) -> Report:
    """Build the document of a run. Findings that fail the run are marked; paths are relative to the repository.

    A file that cannot be read becomes an entry with the reason.

    Args:
        entries: one entry per file.
        found: the files found below the given paths.
        tried: the results of compiling the buckets, or ``None`` if they were not compiled.
        left_out: rules that are ignored.
        fail_on: minimum severity of a finding that fails; ``never`` for none.
    """
    cwd = Path.cwd()
    root = next((p for p in (cwd, *cwd.parents) if (p / ".git").exists()), cwd)
    notes = tried.notes if tried is not None else {}
    kernels = [_judged(entry, left_out, fail_on, notes.get(_path(entry), ())) for entry in entries]
    kernels += [_unreadable(problem) for problem in found.problems]
    others = "1 JSON file is" if found.others == 1 else f"{found.others} JSON files are"
    summary = [f"{others} no tuned configuration that kprof knows"] if found.others else []
    return Report(
        kprof=__version__,
        kernels=[relocated(kernel, root) for kernel in kernels],
        verdict=_verdict(kernels, found, tried, fail_on),
        notes=[*summary, *(tried.summary() if tried is not None else ())],
    )


def _judged(entry: KernelReport, left_out: set[str], fail_on: str, notes: Sequence[str]) -> KernelReport:
    findings = [_marked(finding, fail_on) for finding in entry.findings if finding.rule not in left_out]
    return msgspec.structs.replace(entry, findings=findings, notes=[*entry.notes, *notes])


def _marked(finding: Finding, fail_on: str) -> Finding:
    if fail_on == "never" or finding.severity.rank < Severity(fail_on).rank:
        return finding
    return msgspec.structs.replace(finding, evidence={**finding.evidence, MARK: FAILS})


def _unreadable(problem: "KprofError") -> KernelReport:
    path = problem.path or "?"
    place = Location(file=path, line=1)
    finding = Finding(
        rule=CANNOT_TELL.id,
        name=CANNOT_TELL.name,
        severity=CANNOT_TELL.severity,
        message=problem.message,
        location=place,
        evidence={MARK: UNKNOWN},
    )
    return KernelReport(name=path.rsplit("/", 1)[-1], arch="unknown", source=place, findings=[finding])


def _path(entry: KernelReport) -> str:
    return entry.source.file if isinstance(entry.source, Location) else ""


def _verdict(
    kernels: Sequence[KernelReport], found: "FoundFiles", tried: "CompiledConfigs | None", fail_on: str
) -> Verdict:
    findings = [f for kernel in kernels for f in kernel.findings if f.rule != CANNOT_TELL.id]
    counts = [(s, sum(f.severity is s for f in findings)) for s in sorted(Severity, key=lambda s: -s.rank)]
    words = [f"{count} {s.value}{'' if count == 1 else 's'}" for s, count in counts if count]
    buckets = sum(len(file.buckets) for file in found.files)
    done = (
        f"{len(found.files)} {'file' if len(found.files) == 1 else 'files'}, "
        f"{buckets:,} {'bucket' if buckets == 1 else 'buckets'}: {', '.join(words) or 'no findings'}"
    )
    unread = f", {len(found.problems)} could not be read" if found.problems else ""
    if any(f.evidence.get(MARK) == FAILS for f in findings):
        return Verdict(status="regression", summary=f"failed (--fail-on {fail_on}): {done}{unread}")
    if not found.files and not found.problems:
        return Verdict(status="cannot_tell", summary="cannot tell: no tuned configuration was found")
    if found.problems:
        return Verdict(status="cannot_tell", summary=f"cannot tell: {len(found.problems)} could not be read; {done}")
    if tried is not None and not tried.done:
        return Verdict(status="cannot_tell", summary=f"cannot tell: no bucket could be compiled; {done}")
    return Verdict(status="ok", summary=f"ok: {done}")
