"""SARIF 2.1.0, for GitHub code scanning and other readers."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from msgspec import to_builtins

from kprof.document import Report
from kprof.findings import Edit, Location
from kprof.output.sink import clean
from kprof.reporters._ci_findings import GateFinding, RuleHelp, archs, cure, items, label, unknown
from kprof.reporters.interface import Format, ReportRequest

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# GitHub's limits. GitHub rejects files or drops results that exceed them.
MAX_RUNS = 20
MAX_RESULTS = 25_000
MAX_LOCATIONS = 1_000
_ROOT = "%SRCROOT%"


class SarifReporter:
    """Reporter that writes one SARIF run per architecture.

    Args:
        rules: descriptions of the rules.
        suppressed: whether to write findings silenced by an ignore comment, the baseline or an allowance, with SARIF's
            ``suppressions``. GitHub ignores ``suppressions`` and shows them like other findings.
    """

    def __init__(self, rules: Sequence[RuleHelp] = (), *, suppressed: bool = False) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self._suppressed = suppressed

    def render(self, report: Report) -> str:
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        found = items(report, suppressed=self._suppressed)
        names = archs(report) or ["none"]
        runs = [self._run(report, arch, [i for i in found if i.kernel.arch == arch]) for arch in names[:MAX_RUNS]]
        if len(names) > MAX_RUNS:
            left = ", ".join(names[MAX_RUNS:])
            runs[-1]["invocations"][0]["toolExecutionNotifications"].append(
                _notification(f"GitHub accepts {MAX_RUNS} runs, so these are left out: {left}")
            )
        document = {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def _run(self, report: Report, arch: str, found: Sequence[GateFinding]) -> dict[str, Any]:
        shown = found[:MAX_RESULTS]
        used = sorted({item.finding.rule for item in shown})
        index = {rule: number for number, rule in enumerate(used)}
        troubles = [_notification(f"{label(i.kernel)}: {i.message}") for i in shown if unknown(i.finding)]
        if len(found) > len(shown):
            troubles.append(_notification(f"{len(found) - len(shown)} results of lower severity are left out"))
        return {
            "tool": {
                "driver": {
                    "name": "kprof",
                    "version": report.kprof,
                    "rules": [self._rule(rule, shown) for rule in used],
                }
            },
            # GitHub uses the part before the last slash as the category, which must be unique for each run.
            "automationDetails": {"id": f"kprof/{arch}/"},
            "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
            "invocations": [
                {
                    "executionSuccessful": report.verdict.status != "cannot_tell",
                    "toolExecutionNotifications": troubles,
                }
            ],
            "columnKind": "unicodeCodePoints",
            "results": [_result(item, index) for item in shown],
        }

    def _rule(self, rule: str, found: Sequence[GateFinding]) -> dict[str, Any]:
        first = next(item.finding for item in found if item.finding.rule == rule)
        known = self._rules.get(rule) or RuleHelp(rule, first.name, first.severity, first.name)
        return {
            "id": rule,
            "name": "".join(part.capitalize() for part in known.name.split("-")),
            "shortDescription": {"text": known.summary},
            "fullDescription": {"text": known.summary},
            "help": {"text": known.help, "markdown": known.help},
            "defaultConfiguration": {"level": known.severity.value},
            "properties": {"tags": ["performance", "gpu", "kprof"]},
        }


def _result(item: GateFinding, index: dict[str, int]) -> dict[str, Any]:
    finding, kernel = item.finding, item.kernel
    advice = item.advice
    text = clean(f"{label(kernel)} on {kernel.arch}: {item.text}" + (f". {advice}" if advice else ""))
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": finding.severity.value,
        "message": {"text": text},
        "partialFingerprints": {
            # GitHub uses only this fingerprint, and would otherwise replace it by a hash of the source line.
            "primaryLocationLineHash": f"{item.fingerprint}:1",
            "kprof/v1": item.fingerprint,
        },
        "properties": {"kernel": kernel.name, "arch": kernel.arch, "evidence": _json_value(finding.evidence)},
    }
    if finding.gain is not None:
        # SARIF's rank is a priority from 0 to 100; here it is the share of the launch's time.
        result["rank"] = round(100 * min(1.0, finding.gain.share), 2)
        result["properties"]["gain"] = to_builtins(finding.gain)
    place = item.location
    if place is not None:
        result["locations"] = [
            {
                "physicalLocation": _physical(place),
                "logicalLocations": [{"name": place.function or kernel.name, "kind": "function"}],
            }
        ]
    if finding.related:
        result["relatedLocations"] = [
            {
                "id": number,
                "physicalLocation": _physical(other),
                "message": {"text": f"inlined from here{f': {other.function}' if other.function else ''}"},
            }
            for number, other in enumerate(finding.related[:MAX_LOCATIONS])
        ]
    changes = cure(finding)
    if changes:
        result["fixes"] = [{"description": {"text": clean(advice)}, "artifactChanges": [_change(e) for e in changes]}]
    if item.suppressed is not None:
        kind = "external" if "gate" in finding.evidence else "inSource"
        result["suppressions"] = [{"kind": kind, "status": "accepted", "justification": item.suppressed}]
    return result


def _physical(place: Location) -> dict[str, Any]:
    absolute = place.file.startswith("/")
    uri = quote(place.file)
    region = {"startLine": max(place.line, 1)} | ({"startColumn": place.column} if place.column else {})
    artifact = {"uri": f"file://{uri}"} if absolute else {"uri": uri, "uriBaseId": _ROOT}
    return {"artifactLocation": artifact, "region": region}


def _change(edit: Edit) -> dict[str, Any]:
    """Return the SARIF replacement of one line."""
    region = {"startLine": edit.line, "startColumn": 1, "endLine": edit.line, "endColumn": len(edit.before) + 1}
    place = _physical(Location(file=edit.file, line=edit.line))["artifactLocation"]
    return {
        "artifactLocation": place,
        "replacements": [{"deletedRegion": region, "insertedContent": {"text": edit.after}}],
    }


def _notification(text: str) -> dict[str, Any]:
    return {"level": "warning", "message": {"text": clean(text)}}


def _json_value(value: Any) -> Any:
    """Convert a finding's evidence to JSON-compatible values."""
    return json.loads(json.dumps(value, default=str))


class _Sarif(Format):
    name = "sarif"
    help = "Write SARIF 2.1.0, for GitHub code scanning."
    extension = ".sarif"
    documents = ("report", "check", "lint")
    from_root = True
    flags: ClassVar[Mapping[str, str]] = {"suppressed": "Also write silenced findings, as suppressed results."}

    def render(self, document: Report, request: ReportRequest) -> str:
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        from kprof.reporters.rule_list import all_rules

        return SarifReporter(all_rules(), suppressed="suppressed" in request.flags).render(document)


FORMAT = _Sarif()
