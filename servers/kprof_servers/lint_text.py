"""Write the findings on configuration files as terminal text: a block per file, and the verdict."""

from collections.abc import Sequence

from kprof.document import KernelReport, Report
from kprof.findings import Location
from kprof.output.colour import painted
from kprof.output.headline import folded
from kprof.output.sink import clean
from kprof.reporters._ci_findings import GateFinding, items

_COLOUR = {"error": "31;1", "warning": "33", "note": "36"}
_VERDICT = {"ok": "32", "regression": "31;1", "cannot_tell": "33;1"}
_MOST = 10


class LintTextReporter:
    """Writes the path of each file, then ``line:column  severity  rule  message``, in file order.

    Args:
        colour: whether to use ANSI colours.
        verbose: 0 hides findings of severity note, 1 shows all findings.
        width: columns of the terminal; the verdict is then printed first and words are not split. ``None`` for a log,
            where the verdict is the last line.
    """

    def __init__(self, *, colour: bool = False, verbose: int = 0, width: int | None = None) -> None:
        self._colour = colour
        self._verbose = verbose
        self._width = width

    def render(self, report: Report) -> str:
        """See :class:`kprof.reporters.interface.Format`."""
        lines: list[str] = []
        hidden = 0
        by_kernel: dict[int, list[GateFinding]] = {}
        for item in items(report):
            by_kernel.setdefault(id(item.kernel), []).append(item)
        for kernel in report.kernels:
            found = by_kernel.get(id(kernel), [])
            shown = [item for item in found if self._verbose or item.finding.severity.value != "note"]
            hidden += len(found) - len(shown)
            notes = kernel.notes if self._verbose else []
            if shown or notes:
                lines += self._block(kernel, sorted(shown, key=_sort_key), notes)
        if hidden:
            lines.append(f"notes: {hidden}; -v shows them")
        lines += [clean(note) for note in report.notes]
        verdict = folded(clean(report.verdict.summary), self._width)
        verdict = [self._paint(line, _VERDICT[report.verdict.status]) for line in verdict]
        lines = [*lines, *verdict] if self._width is None else [*verdict, *([""] if lines else []), *lines]
        # Names must not add line breaks: GitHub interprets a line that begins with two colons as a command.
        return "".join(line.replace("\n", " ") + "\n" for line in lines)

    def _block(self, kernel: KernelReport, found: Sequence[GateFinding], notes: Sequence[str]) -> list[str]:
        path = kernel.source.file if isinstance(kernel.source, Location) else kernel.name
        lines = [clean(f"{path}   {kernel.arch}")]
        at = [_position_text(item) for item in found]
        width = max((len(text) for text in at), default=0)
        for text, item in zip(at, found, strict=True):
            finding = item.finding
            word = f"{finding.severity.value:<7}"
            message = clean(" ".join(finding.message.split()))
            start = f"  {text:>{width}}  {word}  {finding.rule}  "
            first, *more = folded(start + message, self._width, " " * (len(start) - 2))
            lines += [first.replace(word, self._paint(word, _COLOUR[finding.severity.value]), 1), *more]
        lines += [f"  {' '.join(clean(note).split())}" for note in notes[:_MOST]]
        if len(notes) > _MOST:
            lines.append(f"  {len(notes) - _MOST} more such notes")
        return [*lines, ""]

    def _paint(self, text: str, code: str) -> str:
        return painted(text, code, colour=self._colour)


def _position_text(item: GateFinding) -> str:
    place = item.location
    if place is None:
        return ""
    return f"{place.line}:{place.column}" if place.column else f"{place.line}"


def _sort_key(item: GateFinding) -> tuple[int, int, str]:
    place = item.location
    return (place.line, place.column or 0, item.finding.rule) if place is not None else (0, 0, item.finding.rule)
