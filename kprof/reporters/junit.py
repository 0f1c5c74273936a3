"""JUnit XML: a suite for each architecture, a test case for each kernel and specialisation."""

from pathlib import PurePosixPath

from msgspec import UNSET

from kprof.document import KernelReport, Report
from kprof.output.sink import clean
from kprof.reporters._gate_words import Item, advice_text, archs, fails, items, label, unknown
from kprof.reporters.interface import Format, Request


class JUnitReporter:
    """What fails is a failure, what cannot be told an error."""

    def render(self, report: Report) -> str:
        """See :class:`kprof.reporters.interface.Format`."""
        from xml.sax.saxutils import escape

        found = items(report)
        suites: list[str] = []
        totals = [0, 0, 0]
        for arch in archs(report):
            kernels = [kernel for kernel in report.kernels if kernel.arch == arch]
            counts, cases = _suite(kernels, found)
            suites += [f'  <testsuite name="kprof {escape(arch)}" {_numbers(counts)}>', *cases, "  </testsuite>"]
            totals = [a + b for a, b in zip(totals, counts, strict=True)]
        head = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="kprof" {_numbers(totals)}>']
        return "\n".join([*head, *suites, "</testsuites>"]) + "\n"


def _suite(kernels: list[KernelReport], found: list[Item]) -> tuple[list[int], list[str]]:
    # Every command that can write this format loads the file, and xml.sax loads an HTTP client.
    from xml.sax.saxutils import escape, quoteattr

    lines: list[str] = []
    counts = [len(kernels), 0, 0]
    for kernel in kernels:
        own = [item for item in found if item.kernel is kernel]
        failing = [item for item in own if fails(item.finding)]
        unsure = [item for item in own if unknown(item.finding)]
        kind = "failure" if failing else "error" if unsure else ""
        head = f"    <testcase {_attributes(kernel)}"
        if not kind:
            lines.append(f"{head}/>")
            continue
        counts[1 if failing else 2] += 1
        told = [*failing, *unsure]
        first = told[0].finding
        more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
        message = quoteattr(clean(f"{first.rule} {first.name}: {told[0].message}{more}"))
        text = escape(clean("\n".join(_line(item) for item in told)))
        lines += [f"{head}>", f'      <{kind} message={message} type="{first.rule}">{text}</{kind}>', "    </testcase>"]
    return counts, lines


def _attributes(kernel: KernelReport) -> str:
    from xml.sax.saxutils import quoteattr

    pairs = {"classname": kernel.name, "name": label(kernel)}
    if kernel.source is not UNSET:
        path = PurePosixPath(kernel.source.file)
        pairs["classname"] = ".".join((*path.parent.parts, path.stem)).strip("/.") or kernel.name
        pairs |= {"file": kernel.source.file, "line": str(kernel.source.line)}
    return " ".join(f"{name}={quoteattr(clean(value))}" for name, value in pairs.items())


def _numbers(counts: list[int]) -> str:
    return f'tests="{counts[0]}" failures="{counts[1]}" errors="{counts[2]}"'


def _line(item: Item) -> str:
    finding = item.finding
    where = f"{item.where}: " if item.where else ""
    advice = advice_text(finding)
    return f"{where}{finding.rule} {finding.name}: {item.message}{f'. {advice}' if advice else ''}"


class _JUnit(Format):
    name = "junit"
    help = "Write JUnit XML."
    extension = ".xml"
    documents = ("check", "lint")

    def render(self, document: Report, request: Request) -> str:  # noqa: ARG002 - all of them are rendered alike
        """See :class:`kprof.reporters.interface.Format`."""
        return JUnitReporter().render(document)


FORMAT = _JUnit()
