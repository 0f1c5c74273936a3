"""The gate's result on the terminal: what fails first, then what cannot be told, the verdict last."""

from collections.abc import Sequence

from kprof.document import Report
from kprof.output.colour import painted
from kprof.output.sink import clean
from kprof.reporters._gate_words import Item, advice_text, fails, items, label, unknown

_COLOUR = {"error": "31;1", "warning": "33", "note": "36"}
_VERDICT = {"ok": "32", "regression": "31;1", "cannot_tell": "33;1"}


class CheckTextReporter:
    """Plain lines: ``file:line: severity rule name: message``, as editors and log viewers understand them.

    Args:
        colour: ANSI colours.
        verbose: 1 also shows findings that do not fail and notes, 2 what is silenced and why.
    """

    def __init__(self, *, colour: bool = False, verbose: int = 0) -> None:
        self._colour = colour
        self._verbose = verbose

    def render(self, report: Report) -> str:
        """See :class:`kprof.reporters.interface.Format`."""
        found = items(report)
        told = [item for item in found if fails(item.finding) or unknown(item.finding)]
        others = [item for item in found if not fails(item.finding) and not unknown(item.finding)]
        silent = [item for item in items(report, suppressed=True) if item.suppressed is not None]
        lines = self._lines(told)
        if self._verbose:
            lines += self._lines(others)
            lines += [f"note: {clean(note)}" for note in report.notes]
        elif others:
            lines.append(f"findings that do not fail: {len(others)}; -v shows them")
        if self._verbose > 1:
            lines += self._lines(silent)
        elif silent:
            lines.append(f"silenced by ignores, the baseline or allowances: {len(silent)}; -vv shows them")
        lines.append(self._paint(report.verdict.summary, _VERDICT[report.verdict.status]))
        # One line each, whatever is in a name: GitHub takes a line that begins with two colons for a command.
        return "".join(line.replace("\n", " ") + "\n" for line in lines)

    def _lines(self, found: Sequence[Item]) -> list[str]:
        lines = []
        for item in found:
            finding = item.finding
            where = f"{item.where}: " if item.where else ""
            severity = self._paint(finding.severity.value, _COLOUR[finding.severity.value])
            lines.append(f"{clean(where)}{severity} " + clean(f"{finding.rule} {finding.name}: {finding.message}"))
            lines.append(clean(f"    {label(item.kernel)} on {item.kernel.arch}"))
            lines += [f"    {clean(text)}" for text in (advice_text(finding), item.suppressed) if text]
        return lines

    def _paint(self, text: str, code: str) -> str:
        return painted(text, code, colour=self._colour)
