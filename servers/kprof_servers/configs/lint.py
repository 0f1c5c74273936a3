"""Run all checks on all files."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from kprof.document import KernelReport
from kprof.findings import Finding, Location
from kprof_servers.configs.checks import checks
from kprof_servers.configs.checks.check import Context, Tried
from kprof_servers.configs.devices import machine_of
from kprof_servers.configs.json_text import JsonPlace
from kprof_servers.configs.model import ConfigFile

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture

_MOST_RELATED = 50


def lint(
    files: Sequence[ConfigFile],
    assumed: "Architecture | None" = None,
    tried: Mapping[str, Mapping[JsonPlace, Tried]] | None = None,
) -> list[KernelReport]:
    """Return one document entry per file, with findings sorted by severity, rule and line.

    Args:
        files: the configuration files.
        assumed: the GPU of files that do not name one.
        tried: for each file's path, the results of compiling its buckets.
    """
    families: dict[tuple[str, ...], list[ConfigFile]] = {}
    for file in files:
        families.setdefault(_family(file), []).append(file)
    return [_report(file, assumed, families[_family(file)], (tried or {}).get(file.path, {})) for file in files]


def _report(
    file: ConfigFile,
    assumed: "Architecture | None",
    family: Sequence[ConfigFile],
    tried: Mapping[JsonPlace, Tried],
) -> KernelReport:
    context = Context(machine=machine_of(file, assumed), families=family, tried=tried)
    found = _merged([finding for check in checks() for finding in check.check(file, context)])
    notes = [f"{context.machine.label} is not an AMD GPU: values are not checked"] if context.machine.foreign else []
    return KernelReport(
        name=file.path.rsplit("/", 1)[-1],
        arch=context.machine.label,
        source=Location(file=file.path, line=1),
        findings=sorted(found, key=_order),
        notes=notes,
    )


def _merged(findings: Sequence[Finding]) -> list[Finding]:
    """Merge findings about the same knob and value in several buckets; the other lines become related locations."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for number, finding in enumerate(findings):
        knob = finding.evidence.get("knob")
        key = (str(number),) if knob is None else (finding.rule, knob, repr(finding.evidence.get("value")))
        groups.setdefault(key, []).append(finding)
    return [_merged_finding(group) for group in groups.values()]


def _merged_finding(group: Sequence[Finding]) -> Finding:
    first = group[0]
    if len(group) == 1:
        return first
    others = [finding.location for finding in group[1:] if isinstance(finding.location, Location)]
    return msgspec.structs.replace(
        first,
        message=f"{first.message}; {len(others)} more alike",
        related=[*first.related, *others[:_MOST_RELATED]],
        evidence={**first.evidence, "lines": sorted({place.line for place in others})},
    )


def _family(file: ConfigFile) -> tuple[str, ...]:
    """Return a key that is equal for the files of one kernel family.

    Files of AITER's old and new layout have the same key, because a family in the new layout hides its old files.
    """
    if file.format.startswith("AITER"):
        return ("AITER", file.arch or "", (file.family or "").upper().replace("-", "_"))
    return (file.format, file.path)


def _order(finding: Finding) -> tuple[int, str, int, int]:
    place = finding.location
    line, column = (place.line, place.column or 0) if isinstance(place, Location) else (0, 0)
    return (-finding.severity.rank, finding.rule, line, column)
