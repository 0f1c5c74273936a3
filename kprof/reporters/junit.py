"""JUnit XML: one suite per architecture, one test case per kernel and specialisation."""

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from msgspec import UNSET

from kprof.document import KernelReport, Report
from kprof.output.sink import clean
from kprof.reporters._ci_findings import GateFinding, archs, fails, items, label, unknown
from kprof.reporters.interface import Format, ReportRequest

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class JUnitReporter:
    """Reporter that writes failing checks as failures, and undetermined ones as errors."""

    def render(self, report: Report) -> str:
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        from xml.etree import ElementTree as ET  # written, never read

        found = items(report)
        root = ET.Element("testsuites", name="kprof")
        totals = [0, 0, 0]
        for arch in archs(report):
            suite = ET.SubElement(root, "testsuite", name=clean(f"kprof {arch}"))
            counts = _suite(suite, [kernel for kernel in report.kernels if kernel.arch == arch], found)
            suite.attrib.update(_numbers(counts))
            totals = [a + b for a, b in zip(totals, counts, strict=True)]
        root.attrib.update(_numbers(totals))
        ET.indent(root)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(suite: "Element", kernels: list[KernelReport], found: list[GateFinding]) -> list[int]:
    """Add a test case for each kernel to a suite, and return the numbers of tests, failures and errors."""
    from xml.etree import ElementTree as ET

    counts = [len(kernels), 0, 0]
    for kernel in kernels:
        own = [item for item in found if item.kernel is kernel]
        failing = [item for item in own if fails(item.finding)]
        unsure = [item for item in own if unknown(item.finding)]
        case = ET.SubElement(suite, "testcase", _attributes(kernel))
        if not failing and not unsure:
            continue
        counts[1 if failing else 2] += 1
        items = [*failing, *unsure]
        first = items[0]
        more = f" (and {len(items) - 1} more)" if len(items) > 1 else ""
        message = clean(f"{first.finding.rule} {first.finding.name}: {first.message}{more}")
        outcome = ET.SubElement(case, "failure" if failing else "error", message=message, type=first.finding.rule)
        outcome.text = clean("\n".join(_finding_line(item) for item in items))
    return counts


def _attributes(kernel: KernelReport) -> dict[str, str]:
    pairs = {"classname": kernel.name, "name": label(kernel)}
    if kernel.source is not UNSET:
        path = PurePosixPath(kernel.source.file)
        pairs["classname"] = ".".join((*path.parent.parts, path.stem)).strip("/.") or kernel.name
        pairs |= {"file": kernel.source.file, "line": str(kernel.source.line)}
    return {name: clean(value) for name, value in pairs.items()}


def _numbers(counts: list[int]) -> dict[str, str]:
    return dict(zip(("tests", "failures", "errors"), map(str, counts), strict=True))


def _finding_line(item: GateFinding) -> str:
    finding = item.finding
    where = f"{item.where}: " if item.where else ""
    advice = item.advice
    return f"{where}{finding.rule} {finding.name}: {item.text}{f'. {advice}' if advice else ''}"


class _JUnit(Format):
    name = "junit"
    help = "Write JUnit XML."
    extension = ".xml"
    documents = ("check", "lint")
    from_root = True

    def render(self, document: Report, request: ReportRequest) -> str:  # noqa: ARG002 - all of them are rendered alike
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        return JUnitReporter().render(document)


FORMAT = _JUnit()
