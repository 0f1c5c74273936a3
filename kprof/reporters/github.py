"""Annotations for GitHub Actions: workflow commands in the job's output."""

import os
from collections.abc import Sequence
from pathlib import Path

from kprof.document import Report
from kprof.findings import Severity
from kprof.output.sink import clean
from kprof.output.writing import log
from kprof.reporters._ci_findings import GateFinding, items, label
from kprof.reporters.interface import Format, ReportRequest

LIMIT = 10
"""Maximum number of errors, of warnings and of notices that GitHub shows per step; it drops others silently."""

_SUMMARY_CHARACTERS = 250_000
"""Maximum number of characters of a summary: GitHub's limit is 1 MB per step, and a character may have four bytes."""

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


class GitHubReporter:
    """Reporter that writes the worst findings of each severity; the last annotation counts omitted findings."""

    def render(self, report: Report) -> str:
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        found = items(report)
        lines: list[str] = []
        for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE):
            lines += _annotations([item for item in found if item.finding.severity is severity], _COMMAND[severity])
        return "".join(f"{line}\n" for line in lines)


def _annotations(found: Sequence[GateFinding], command: str) -> list[str]:
    fit = len(found) <= LIMIT
    lines = [_annotation(item, command) for item in (found if fit else found[: LIMIT - 1])]
    if not fit:
        left = len(found) - LIMIT + 1
        lines.append(f"::{command} title=kprof::{left} more of this severity: the job summary has all of them")
    return lines


def _annotation(item: GateFinding, command: str) -> str:
    finding = item.finding
    place = item.location
    properties = {"file": place.file, "line": str(max(place.line, 1))} if place is not None else {}
    if place is not None and place.column:
        properties["col"] = str(place.column)
    properties["title"] = f"{finding.rule} {finding.name}"
    text = f"{label(item.kernel)} on {item.kernel.arch}: {item.text}"
    advice = item.advice
    shown = ",".join(f"{name}={_property(clean(value))}" for name, value in properties.items())
    return f"::{command} {shown}::{_data(clean(f'{text}. {advice}' if advice else text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


class _GitHub(Format):
    name = "github"
    help = "Print annotations, and write $GITHUB_STEP_SUMMARY when it is set."
    extension = ".txt"
    documents = ("report", "check", "lint")
    from_root = True
    option = "flag"
    commands = True

    def render(self, document: Report, request: ReportRequest) -> str:  # noqa: ARG002 - all of them are rendered alike
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        return GitHubReporter().render(document)

    def finish(self, document: Report, request: ReportRequest) -> None:  # noqa: ARG002 - all of them are reported alike
        """Append the report to the job's summary."""
        from kprof.reporters.markdown import MarkdownReporter

        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if not summary:
            return
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(MarkdownReporter(limit=_SUMMARY_CHARACTERS).render(document))
        except OSError as error:
            log(f"kprof: the job summary cannot be written: {error.strerror}")


FORMAT = _GitHub()
