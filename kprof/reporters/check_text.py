"""Text of the gate's result: failures first, then undetermined checks, and the verdict."""

from collections import Counter
from collections.abc import Sequence

from kprof.document import Report
from kprof.gate.rules import BLOCK
from kprof.output.colour import painted
from kprof.output.headline import folded
from kprof.output.sink import clean
from kprof.reporters._ci_findings import MARK, GateFinding, fails, items, label, unknown
from kprof.reporters._plain_words import plain, without_labels

_COLOUR = {"error": "31;1", "warning": "33", "note": "36"}
_SILENCED = {"": "by ignores", "baseline": "by the baseline", "allowance": "by allowances"}
"""What silenced a finding, in words, by the mark that the gate stores in the finding; ignore comments leave no mark."""
_VERDICT = {"ok": "32", "regression": "31;1", "cannot_tell": "33;1"}


class CheckTextReporter:
    """Reporter that writes ``file:line: severity rule name: message``, which editors and log viewers understand.

    Args:
        colour: whether to use ANSI colours.
        verbose: 1 also shows remarks and findings that do not fail, 2 also silenced findings with the reason.
        width: columns of the terminal, where lines are wrapped and the verdict comes first; ``None`` for a log.
    """

    def __init__(self, *, colour: bool = False, verbose: int = 0, width: int | None = None) -> None:
        self._colour = colour
        self._verbose = verbose
        self._width = width

    def render(self, report: Report) -> str:
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        found = items(report)
        shown = [item for item in found if fails(item.finding) or unknown(item.finding)]
        others = [item for item in found if not fails(item.finding) and not unknown(item.finding)]
        silent = [item for item in items(report, suppressed=True) if item.suppressed is not None]
        lines = self._lines(shown)
        if self._verbose:
            lines += self._lines(others)
            lines += [line for note in report.notes for line in self._folded(f"remark: {clean(note)}")]
        elif others:
            lines.append(f"findings that do not fail: {len(others)}; -v shows them")
        if self._verbose > 1:
            lines += self._lines(silent)
        elif silent:
            counts = Counter(_SILENCED.get(item.finding.evidence.get(MARK, ""), "by ignores") for item in silent)
            said = ", ".join(f"{counts[by]} {by}" for by in _SILENCED.values() if counts[by])
            lines.append(f"silenced findings: {said}; -vv shows them")
        verdict = self._folded(clean(self._summary(report)))
        verdict = [self._paint(line, _VERDICT[report.verdict.status]) for line in verdict]
        lines = [*lines, *verdict] if self._width is None else [*verdict, *([""] if lines else []), *lines]
        # Keep each finding on one line, even if names contain newlines, because GitHub executes lines that begin with
        # two colons.
        return "".join(line.replace("\n", " ") + "\n" for line in lines)

    def _summary(self, report: Report) -> str:
        """Return the verdict; the messages in it are worded as in the lines of findings."""
        summary = report.verdict.summary
        for kernel in report.kernels:
            for finding in kernel.findings:
                said = self._message_text(without_labels(finding.message, kernel))
                summary = summary.replace(finding.message, said)
        return without_labels(summary, report.kernels[0]) if len(report.kernels) == 1 else summary

    def _message_and_cost(self, item: GateFinding) -> str:
        """Return a finding's message and its cost."""
        return item.text.replace(item.message, self._message_text(without_labels(item.finding.message, item.kernel)), 1)

    def _message_text(self, message: str) -> str:
        """Return a message without instruction names, unless verbose."""
        return message if self._verbose else plain(message)

    def _lines(self, found: Sequence[GateFinding]) -> list[str]:
        lines = []
        for item in found:
            finding = item.finding
            where = f"{item.where}: " if item.where else ""
            severity = self._paint(finding.severity.value, _COLOUR[finding.severity.value])
            text = clean(
                f"{where}{finding.severity.value} {finding.rule} {finding.name}: {self._message_and_cost(item)}"
            )
            first, *more = self._folded(text)
            lines += [first.replace(f"{finding.severity.value} ", f"{severity} ", 1), *more]
            lines += [f"    {clean(line)}" for line in str(finding.evidence.get(BLOCK, "")).splitlines()]
            for more_text in (f"{label(item.kernel)} on {item.kernel.arch}", item.advice, item.suppressed):
                lines += self._folded(f"    {clean(more_text)}") if more_text else []
        return lines

    def _folded(self, line: str) -> list[str]:
        return folded(line.replace("\n", " "), self._width, "    ")

    def _paint(self, text: str, code: str) -> str:
        return painted(text, code, colour=self._colour)
