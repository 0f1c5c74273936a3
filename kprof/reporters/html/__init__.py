"""A self-contained HTML report about kernels: it opens from disk, in light or dark mode, and can be printed.

Nothing on the page is loaded from the network. Templates escape every external text, and a content security policy
allows only the page's own script.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from kprof.reporters.interface import Format, ReportRequest

if TYPE_CHECKING:
    from kprof.details import Details
    from kprof.document import KernelReport, Report
    from kprof.reporters._ci_findings import RuleHelp

LIMIT = 1_000_000
"""Maximum size of a page in bytes. The worst kernels are shown completely, others with less detail."""

# Sizes in bytes: the page without kernels, a row of its index, and the space reserved for each kernel that follows.
_FRAME, _INDEX_ROW, _EACH = 20_000, 700, 25_000
_INDEX_ROWS = 400
# Size in bytes of the smallest possible section of a kernel.
_LEAST = 4_000


class HtmlReporter:
    """Reporter that writes the HTML page.

    Args:
        details: details of kernels, by position in the document.
        rules: rules with their documentation.
        limit: maximum size of the page in bytes.
    """

    def __init__(
        self, details: "Mapping[int, Details] | None" = None, rules: "Sequence[RuleHelp]" = (), limit: int = LIMIT
    ) -> None:
        self._details = details or {}
        self._rules = {rule.id: rule for rule in rules}
        self._limit = limit

    def render(self, report: "Report") -> str:
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        from markupsafe import Markup

        # Import this on use, because every command that can write a page loads this file.
        from kprof.details import Details
        from kprof.reporters.html.comparison import side_by_side
        from kprof.reporters.html.parts import environment
        from kprof.reporters.html.view import differing, rank

        order = sorted(range(len(report.kernels)), key=lambda position: rank(report.kernels[position], position))
        shown = order[:_INDEX_ROWS]
        differs = differing([report.kernels[position] for position in shown])
        explained: set[str] = set()
        sections: list[str] = []
        rows: list[dict[str, Any]] = []
        room = self._limit - _FRAME - _INDEX_ROW * len(shown)
        for number, position in enumerate(shown):
            spare = min(3 * self._limit // 4, _EACH * (len(shown) - number - 1))
            subject = _Subject(report.kernels[position], self._details.get(position, Details()), number)
            view, text = self._section(subject, room - spare, explained)
            if text is not None:
                room -= len(text.encode())
                explained.update(view["rules"])
                sections.append(text)
            rows.append({**view, "shown": text is not None, "differs": differs[number]})
        page: str = (
            environment()
            .get_template("page.html")
            .render(
                document=report,
                rows=rows,
                more=len(order) - len(shown),
                groups=side_by_side([report.kernels[position] for position in shown], differs),
                measured=any(kernel.measured is not UNSET for kernel in report.kernels),
                sections=Markup("\n".join(sections)),  # noqa: S704 - made by the templates
            )
        )
        return page if page.endswith("\n") else page + "\n"

    def _section(self, subject: "_Subject", room: int, explained: set[str]) -> tuple[dict[str, Any], str | None]:
        """Return a kernel's row for the index, and its section in as much detail as fits, or None if none fits.

        The first kernel always gets a section.
        """
        from kprof.details import Details
        from kprof.reporters.html.parts import environment
        from kprof.reporters.html.smaller import size, smaller
        from kprof.reporters.html.view import kernel_view

        template = environment().get_template("kernel.html")
        key, first = f"k{subject.number + 1}", subject.number == 0
        if room < _LEAST and not first:
            return kernel_view(subject.kernel, Details(), key, self._rules, explained), None
        for details in smaller(subject.details):
            if details.blocks and size(details) > room:
                continue
            view = kernel_view(subject.kernel, details, key, self._rules, explained)
            text: str = template.render(kernel=view, first=first)
            if len(text.encode()) <= room:
                return view, text
        # After the loop, ``text`` is the smallest section.
        return view, text if first else None


@dataclass(frozen=True)
class _Subject:
    """A kernel with its position on the page, from 0."""

    kernel: "KernelReport"
    details: "Details"
    number: int


class _Html(Format):
    name = "html"
    help = "Write one page with all results, for a browser."
    extension = ".html"
    documents = ("report", "check", "diff")

    def render(self, document: Any, request: ReportRequest) -> str:
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        if request.kind == "diff":
            from kprof.reporters.html.comparison import diff_page

            return diff_page(document)
        from kprof.reporters.rule_list import all_rules

        return HtmlReporter(request.details(), all_rules()).render(document)


FORMAT = _Html()
