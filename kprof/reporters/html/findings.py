"""Findings for the page, grouped by rule, with what to do and the rule's documentation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from kprof.details import Details
from kprof.document import KernelReport
from kprof.findings import Finding, Location
from kprof.reporters._ci_findings import RuleHelp
from kprof.reporters._plain_words import said
from kprof.reporters.answer import cost_words
from kprof.reporters.html.parts import clean

if TYPE_CHECKING:
    from markupsafe import Markup

_TRY = re.compile(r"^## What to try\s*$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_STRESSED = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]*[^\s*])\*(?![\w*])")
_ITEM = re.compile(r"^\s*[-*] ")

Anchors = Mapping[tuple[str, int], str]
_MOST_RELATED, _MOST_EVIDENCE, _MOST_LANDED = 8, 20, 200


@dataclass(frozen=True)
class Links:
    """Anchors of a kernel on the page, for links from its findings.

    Attributes:
        lines: anchors of source lines, by file and line.
        instructions: positions of a finding's instructions that are on the page, by identity (``id``) of the finding.
        key: the kernel's name in anchors.
    """

    lines: Anchors = field(default_factory=dict)
    instructions: Mapping[int, Sequence[int]] = field(default_factory=dict)
    key: str = ""


def links_of(kernel: KernelReport, details: Details, key: str) -> Links:
    """Return the anchors of a kernel's source lines, and of the instructions of its findings."""
    shown = {line.position for block in details.blocks for line in block.code}
    landed = {
        id(finding): [at for at in positions if at in shown][:_MOST_LANDED]
        for finding, positions in zip(kernel.findings, details.landings, strict=False)
    }
    return Links(source_places(details, key), landed, key)


def source_places(details: Details, key: str) -> dict[tuple[str, int], str]:
    """Map each source line, as (file, line), to its anchor on the page."""
    return {
        (file.path, line.number): f"{key}-{number}-{line.number}"
        for number, file in enumerate(details.files)
        for line in file.lines
        if line.instructions
    }


def finding_groups(
    kernel: KernelReport, chosen: Sequence[Finding], rules: Mapping[str, RuleHelp], explained: set[str], links: Links
) -> list[dict[str, Any]]:
    """Return the findings grouped by rule, in the order of the document: by cost, then by severity.

    Args:
        kernel: the kernel.
        chosen: findings of the kernel to show.
        rules: documentation by rule.
        explained: rules whose documentation is already on the page, with another kernel.
        links: anchors of findings.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in chosen:
        groups.setdefault((finding.severity.value, finding.rule), []).append(finding)
    shown = set(explained)
    found = []
    for (severity, rule), findings in groups.items():
        known = rules.get(rule)
        found.append(
            {
                "rule": rule,
                "name": findings[0].name,
                "severity": severity,
                "try": what_to_try(known.help) if known is not None else "",
                "help": explanation(known.help) if known is not None and rule not in shown else "",
                "elsewhere": known is not None and rule in shown,
                "findings": [_finding(finding, kernel, links) for finding in findings],
            }
        )
        shown.add(rule)
    return found


def _finding(finding: Finding, kernel: KernelReport, links: Links) -> dict[str, Any]:
    landed, anchors = links.instructions.get(id(finding), ()), links.lines
    return {
        "message": said(finding.message, kernel),
        "landed": [f"{links.key}-i{at}" for at in landed],
        "gain": cost_words(finding.gain),
        "place": None if finding.location is UNSET else _place_values(finding.location, anchors),
        "related": [_place_values(place, anchors) for place in finding.related[:_MOST_RELATED]],
        "evidence": [(name, _value_text(value)) for name, value in list(finding.evidence.items())[:_MOST_EVIDENCE]],
        "advice": [
            {
                "knob": advice.knob,
                "from": str(advice.from_),
                "to": str(advice.to),
                "verified": []
                if advice.verified is UNSET
                else [
                    (name, str(old), str(new)) for name, (old, new) in list(advice.verified.items())[:_MOST_EVIDENCE]
                ],
                "note": "" if advice.note is UNSET else advice.note,
            }
            for advice in finding.advice[:_MOST_RELATED]
        ],
    }


def _place_values(place: Location, anchors: Anchors) -> dict[str, Any]:
    return {"words": str(place), "full": f"{place.file}:{place.line}", "anchor": anchors.get((place.file, place.line))}


def _value_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {inner}" for name, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def what_to_try(help_text: str) -> "Markup":
    """Return the section "What to try" of a help text; empty if there is none."""
    found = _TRY.search(help_text)
    return as_html(found[1].strip() if found else "")


def explanation(help_text: str) -> "Markup":
    """Return a help text without the section "What to try"."""
    return as_html(_TRY.sub("", help_text).strip())


def as_html(text: str) -> "Markup":
    """Convert the Markdown of a rule's docstring to HTML; unsupported markup stays text."""
    from markupsafe import Markup

    blocks = (_block(block) for block in re.split(r"\n\s*\n|\n(?=## )", clean(text)) if block.strip())
    return Markup("\n").join(blocks)


def _block(text: str) -> "Markup":
    from markupsafe import Markup

    lines = text.strip("\n").splitlines()
    if lines[0].startswith("## "):
        heading = Markup("<h5>{}</h5>").format(lines[0][3:].strip())
        rest = "\n".join(lines[1:])
        return heading + _block(rest) if rest.strip() else heading
    if all(line.startswith("    ") for line in lines):
        return Markup("<pre>{}</pre>").format("\n".join(line[4:] for line in lines))
    if _ITEM.match(lines[0]):
        items = re.split(r"\n(?=\s*[-*] )", "\n".join(lines))
        inner = Markup("").join(Markup("<li>{}</li>").format(_inline(_ITEM.sub("", item))) for item in items)
        return Markup("<ul>{}</ul>").format(inner)
    return Markup("<p>{}</p>").format(_inline(" ".join(line.strip() for line in lines)))


def _inline(text: str) -> "Markup":
    from markupsafe import Markup, escape

    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else _stressed(part) for number, part in enumerate(parts)
    )


def _stressed(text: str) -> "Markup":
    """Mark words between single asterisks as emphasised."""
    from markupsafe import Markup, escape

    parts = _STRESSED.split(text)
    return Markup("").join(
        Markup("<em>{}</em>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )
