"""Annotations of GitHub Actions: workflow commands on the job's output."""

from collections.abc import Sequence

from kprof.document import Report
from kprof.findings import Severity
from kprof.output.sink import clean
from kprof.reporters._gate_words import Item, advice_text, items, label

LIMIT = 10
"""GitHub shows so many errors, warnings and notices of a step, and drops the others without a word."""

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


class GitHubReporter:
    """The worst findings of each severity; when some do not fit, the last annotation says how many."""

    def render(self, report: Report) -> str:
        """See :class:`kprof.reporters.interface.Reporter`."""
        found = items(report)
        lines: list[str] = []
        for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE):
            lines += _annotations([item for item in found if item.finding.severity is severity], _COMMAND[severity])
        return "".join(f"{line}\n" for line in lines)


def _annotations(found: Sequence[Item], command: str) -> list[str]:
    fit = len(found) <= LIMIT
    lines = [_annotation(item, command) for item in (found if fit else found[: LIMIT - 1])]
    if not fit:
        left = len(found) - LIMIT + 1
        lines.append(f"::{command} title=kprof::{left} more of this severity: the job summary has all of them")
    return lines


def _annotation(item: Item, command: str) -> str:
    finding = item.finding
    place = item.location
    properties = {"file": place.file, "line": str(max(place.line, 1))} if place is not None else {}
    if place is not None and place.column:
        properties["col"] = str(place.column)
    properties["title"] = f"{finding.rule} {finding.name}"
    text = f"{label(item.kernel)} on {item.kernel.arch}: {finding.message}"
    advice = advice_text(finding)
    shown = ",".join(f"{name}={_property(clean(value))}" for name, value in properties.items())
    return f"::{command} {shown}::{_data(clean(f'{text}. {advice}' if advice else text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
