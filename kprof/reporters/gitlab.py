"""GitLab's code quality report: a JSON array that merge requests show."""

import json

from kprof.document import Report
from kprof.findings import Severity
from kprof.output.sink import clean
from kprof.reporters._ci_findings import GateFinding, fails, items, label
from kprof.reporters.interface import Format, ReportRequest

_SEVERITY = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


class GitLabReporter:
    """Reporter that writes every finding with a file.

    Each gets a unique fingerprint, because GitLab drops duplicates.
    """

    def render(self, report: Report) -> str:
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        issues = [issue for item in items(report) if (issue := _issue(item)) is not None]
        return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"


def _issue(item: GateFinding) -> dict[str, object] | None:
    place = item.location
    if place is None:
        return None
    finding = item.finding
    text = f"{label(item.kernel)} on {item.kernel.arch}: {item.text}"
    advice = item.advice
    return {
        "description": clean(f"{text}. {advice}" if advice else text),
        "check_name": f"{finding.rule} {finding.name}",
        "fingerprint": item.fingerprint,
        "severity": "critical" if fails(finding) else _SEVERITY[finding.severity],
        "location": {"path": place.file, "lines": {"begin": max(place.line, 1)}},
    }


class _GitLab(Format):
    name = "gitlab"
    help = "Write a GitLab code quality report."
    extension = ".json"
    documents = ("report", "check", "lint")
    from_root = True

    def render(self, document: Report, request: ReportRequest) -> str:  # noqa: ARG002 - all of them are rendered alike
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        return GitLabReporter().render(document)


FORMAT = _GitLab()
