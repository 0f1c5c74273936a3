"""One line per finding in the format of compiler messages, for editors and for readers who know the rules."""

from kprof.document import Report
from kprof.output.sink import one_line
from kprof.reporters._ci_findings import items
from kprof.reporters.interface import Format, ReportRequest


class _Concise(Format):
    """``kernels/softmax.py:31:5: KP301 message``; the worst finding first, without duplicates."""

    name = "concise"
    help = "One line per finding: file:line:column: rule message."
    extension = ".txt"
    documents = ("report", "check", "lint")
    option = "none"

    def render(self, document: Report, request: ReportRequest) -> str:  # noqa: ARG002 - all of them are rendered alike
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        lines = []
        for item in items(document):
            place = item.location
            # Without a source line, the kernel's name identifies the finding.
            where = f"{place.file}:{max(place.line, 1)}:{place.column or 1}" if place is not None else item.kernel.name
            lines.append(one_line(f"{where}: {item.finding.rule} {item.message}") + "\n")
        return "".join(dict.fromkeys(lines))


FORMAT = _Concise()
