"""The report on the terminal: what limits the kernel first, then its resources and its loops."""

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from kprof.document import JobSummary, KernelReport, LoopFacts, Occupancy, Report
from kprof.findings import Cause, Severity
from kprof.output.quantities import kib, plural
from kprof.reporters._code_lines import code_at
from kprof.reporters._console_text import (
    bar,
    config_line,
    limiter,
    loop_summary,
    needs,
    option_in_the_way,
    origin_line,
    waves,
)
from kprof.reporters._kernel_words import better, coverage_line, not_checked, verdict
from kprof.reporters._model_text import assumption_count, loop_lines, model_rows
from kprof.reporters._plain_words import apart, together
from kprof.reporters.answer import (
    access_line,
    by_cost,
    cause_text,
    causes_of,
    hot_loop_line,
    is_negligible,
    job_line,
    launch_line,
    next_step,
    performance,
    releases_line,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_COLOUR = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_VERDICT_COLOUR = {"ok": "green", "regression": "bold red", "cannot_tell": "bold yellow"}
_CAUSES_SHOWN = 4
_SCREEN = (100, 24)
"""Columns and lines of the screen that the answer about one kernel has to fit on."""
_LESS = ((_CAUSES_SHOWN, False), (3, False), (2, False), (2, True), (1, True))
"""Levels of detail from most to least: the number of causes, and whether to be brief."""
_DEEPER = 6
_HEAD = 8
_STEP = re.compile(r"(?<=;) (?![^()]*\))")
"""Matches the gaps between the steps of a fix, so that each step gets a line; ignores semicolons in brackets."""

_INDENT = " " * 10
_FACTS = " " * 14
_HELD = {"before": "arguments or an earlier iteration", "?": "lines not known"}


class ConsoleReporter:
    """Reporter that prints to a rich console.

    Args:
        console: the console.
        verbose: 0 shows the hot loop and the first findings, 1 all loops, findings and notes, 2 also the evidence.
        causes: maximum number of causes to show per kernel; further causes are only counted. All are shown if
            ``verbose``.
        brief: whether to leave out the model's assumptions and the messages of notes that have a fix and no known cost.
    """

    def __init__(
        self, console: "Console", verbose: int = 0, causes: int = _CAUSES_SHOWN, *, brief: bool = False
    ) -> None:
        self._console = console
        self._verbose = verbose
        self._causes_shown = causes
        self._brief = brief

    def show(self, report: Report) -> None:
        """Print every kernel, then the verdict as the last line.

        The answer about one kernel fits on a screen of 24 lines and 100 columns; items that do not fit are only
        counted. The content does not depend on the terminal's size.
        """
        if not self._verbose and len(report.kernels) == 1:
            self._causes_shown, self._brief = _fitting(report)
        lines = self.lines(report)
        # Tables pad their last column with blanks, which are unwanted in a file.
        end = str if self._console.is_terminal else str.rstrip
        self._console.file.write("".join(f"{end(line)}\n" for line in lines))

    def lines(self, report: Report) -> list[str]:
        """Return the lines that :meth:`show` prints, with this reporter's number of causes and brevity."""
        with self._console.capture() as capture:
            self._print_kernels(report)
        return apart(capture.get()).rstrip("\n").splitlines()

    def _print_kernels(self, report: Report) -> None:
        headed = {position: job for job in report.jobs for position in job.launches}
        done: set[int] = set()
        for position, kernel in enumerate(report.kernels):
            job = headed.get(position)
            if job is None:
                self._kernel(kernel)
            elif id(job) not in done:
                done.add(id(job))
                self._job(job, report.kernels)
        # On a terminal, the findings of a single kernel are visible already. Scripts and logs need their number in the
        # last line.
        counts_only = len(report.kernels) == 1 and bool(report.kernels[0].findings) and report.verdict.status == "ok"
        if not (self._console.is_terminal and counts_only):
            self.verdict(report)

    def _job(self, job: JobSummary, kernels: Sequence[KernelReport]) -> None:
        """Print a call that makes several launches: its total time, then the launches, slowest first."""
        from rich.text import Text

        self._console.print(together(Text(job_line(job, kernels), style="bold")))
        self._console.print()
        for kernel in by_cost([kernels[position] for position in job.launches]):
            self._kernel(kernel)

    def verdict(self, report: Report) -> None:
        """Print only the last line, the verdict."""
        self._console.print(report.verdict.summary, style=_VERDICT_COLOUR[report.verdict.status], markup=False)

    def _kernel(self, kernel: KernelReport) -> None:
        from rich.text import Text

        self._console.print(together(Text(verdict(kernel), style="bold")))
        for line in (launch_line(kernel), performance(kernel), releases_line(kernel)):
            if line:
                self._console.print(together(Text(line)))
        self._better(kernel)
        if line := "   ".join(filter(None, (config_line(kernel), origin_line(kernel)))):
            self._console.print(together(Text(line, style="dim")))
        self._console.print()
        if kernel.findings:
            self._causes(kernel)
        reason, command = next_step(kernel)
        self._console.print(self._facts(kernel, reason))
        if command:
            # The command stays on one line, however long it is, because users copy it.
            self._console.print(Text(f"{_FACTS}{command}", style="cyan"), soft_wrap=True)
        self._measured(kernel)
        self._passes(kernel)
        if self._verbose:
            self._loops(kernel)
            self._model(kernel)
            self._pressure(kernel)
            for note in kernel.notes:
                self._hanging(f"  remark: {note}", style="dim")
            if line := coverage_line(kernel):
                self._hanging(f"  {line}", style="dim")
        else:
            self._left_out(kernel)
        self._console.print()

    def _better(self, kernel: KernelReport) -> None:
        """Print the result of `kprof advise` for this kernel, if there is one."""
        from rich.text import Text

        if kernel.advised is UNSET:
            return
        self._console.print(together(Text(better(kernel.advised), style="green")))
        for line in kernel.advised.code.splitlines():
            self._console.print(Text(f"  {line}", style="cyan"), soft_wrap=True)

    def _left_out(self, kernel: KernelReport) -> None:
        from rich.text import Text

        causes = causes_of(kernel)
        negligible = sum(is_negligible(cause, kernel) for cause in causes)
        more = len(causes) - negligible - self._causes_shown
        found = [plural(more, "more cause")] if more > 0 else []
        found += [plural(hidden, "assumption")] if self._brief and (hidden := assumption_count(kernel)) else []
        found += [f"{plural(negligible, 'finding')} without a measurable cost"] if negligible else []
        found += [plural(len(kernel.notes), "remark")] if kernel.notes else []
        if count := not_checked(kernel):
            found.append(f"{plural(count, 'rule')} not checked")
        if found:
            self._console.print(Text(f"  {', '.join(found)} (-v)", style="dim"))

    def _measured(self, kernel: KernelReport) -> None:
        if kernel.measured is UNSET:
            return
        from rich.text import Text

        from kprof.reporters import measured_text

        heading = f"\nMeasured on {kernel.measured.gpu}: {measured_text.standings(kernel.measured)}"
        self._console.print(Text(heading, style="bold"))
        measured_text.section(kernel.measured, self._console)

    def _model(self, kernel: KernelReport) -> None:
        from rich.text import Text

        if kernel.model is UNSET:
            return
        if kernel.model.loops:
            self._console.print(Text("\n  Modelled, per wavefront", style="bold"))
        for loop in kernel.model.loops:
            for line in loop_lines(loop):
                self._hanging(f"    {line}")

    def _pressure(self, kernel: KernelReport) -> None:
        for file, peak in kernel.pressure.items():
            where = "" if peak.location is None else f" at {_short(str(peak.location))}"
            step = "" if peak.to_next_step is None else f", {peak.to_next_step} fewer would reach the next step"
            self._hanging(f"  {peak.live} {file.upper()}s live{where}{step}")
            held = "  ".join(f"{count} from {_HELD.get(line, _short(line))}" for line, count in peak.held.items())
            self._hanging(f"      {held}", style="dim")

    def _causes(self, kernel: KernelReport) -> None:
        """Print the causes of lost time, each with its cost, place and fix; negligible causes only if verbose."""
        shown = [cause for cause in causes_of(kernel) if self._verbose or not is_negligible(cause, kernel)]
        for cause in shown if self._verbose else shown[: self._causes_shown]:
            self._cause(kernel, cause)
        if shown:
            self._console.print()

    def _cause(self, kernel: KernelReport, cause: Cause) -> None:
        from rich.text import Text

        text = cause_text(kernel, cause, verbatim=self._verbose > 0)
        finding = text.finding
        head = Text(f"  {text.severity.value:<8}", style=_COLOUR[text.severity.value])
        head.append(f"{finding.rule} {finding.name}", style="not bold default")
        costs = "" if text.cost.startswith("no ") else "costs "
        head.append(f"   {costs}{text.cost}" if text.cost else "", style="bold default")
        head.append(f"   {text.place}" if text.place else "", style="not bold blue")
        self._hanging(head, deeper=_HEAD)
        if code := code_at(finding.location):
            self._hanging(f"{_INDENT}{code}", style="italic", deeper=_DEEPER)
        if not (self._brief and text.todo and not text.cost and text.severity is Severity.NOTE):
            self._hanging(f"{_INDENT}{text.message}", deeper=0)
        for kind, words in text.todo.items():
            style = "bold green" if kind == "fix" and cause.cure is not UNSET else "cyan"
            first, *further = _STEP.split(words)
            self._hanging(f"{_INDENT}{kind}: {first}", style=style, deeper=len(f"{kind}: "))
            for step in further:
                self._hanging(f"{_INDENT}{' ' * len(f'{kind}: ')}{step}", style=style, deeper=2)
        if text.followers:
            self._hanging(f"{_INDENT}same cause: {text.followers}", style="dim", deeper=_DEEPER)
        if self._verbose:
            for position in cause.findings[1:]:
                other = kernel.findings[position]
                self._hanging(f"{_INDENT}{other.rule} {other.location or ''} {other.message}", style="dim")
            for place in finding.related[:4]:
                self._hanging(f"{_INDENT}also {place}", style="dim")
        if self._verbose > 1:
            for position in cause.findings:
                pairs = "  ".join(f"{k}={v}" for k, v in kernel.findings[position].evidence.items())
                self._hanging(f"{_INDENT}{kernel.findings[position].rule}: {pairs}", style="dim")

    def _facts(self, kernel: KernelReport, reason: str) -> "Table":
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 3), pad_edge=False)
        table.add_column(no_wrap=True, style="bold")
        table.add_column(ratio=1)
        if kernel.occupancy is None:
            table.add_row("  Occupancy", Text("not known: see the remarks (-v)", style="yellow"))
        elif kernel.occupancy is not UNSET:
            occupancy = self._occupancy(kernel.occupancy)
            step = kernel.occupancy.next_step
            if step is not UNSET:
                lds = UNSET if kernel.resources is UNSET else kernel.resources.lds_bytes
                words = needs(step, lds, option_in_the_way(kernel, step.waves_per_simd))
                occupancy.append(f"   {words}", style="cyan")
            table.add_row("  Occupancy", together(occupancy))
        resources = kernel.resources
        if resources is not UNSET:
            table.add_row("  Registers", together(Text(_registers(resources))))
            table.add_row("  LDS", together(Text(_lds(resources))))
        if hot := hot_loop_line(kernel):
            table.add_row("  Hot loop", together(Text(hot)))
        if access := access_line(kernel):
            table.add_row("  Accesses", together(Text(access)))
        if not kernel.loops:
            seen = kernel.unseen is UNSET
            table.add_row("  Loops", Text("none: straight-line code") if seen else Text("not known", style="yellow"))
        if kernel.unseen is not UNSET:
            table.add_row("  Not seen", Text(kernel.unseen, style="yellow"))
        for label, text in model_rows(kernel, full=self._verbose > 0, assumed=not self._brief):
            table.add_row(label, together(text))
        if reason:
            table.add_row("  Next", Text(reason))
        return table

    @staticmethod
    def _occupancy(occupancy: Occupancy) -> Any:
        from rich.text import Text

        text = Text(f"{waves(occupancy.waves_per_simd)} / {occupancy.max_waves_per_simd} waves per SIMD   ")
        share = occupancy.waves_per_simd / occupancy.max_waves_per_simd
        text.append(bar(share), style="green" if share >= 0.5 else "yellow" if share > 0.2 else "red")
        text.append(f"   limited by {limiter(occupancy.limiter, occupancy.waves_per_simd)}")
        others = {
            name: limit
            for name, limit in occupancy.limits.items()
            if name in {"vgpr", "lds"} and name != occupancy.limiter and limit > occupancy.waves_per_simd
        }
        if others and occupancy.next_step is UNSET:
            allowed = ", ".join(f"{limiter(name)} would allow {waves(limit)}" for name, limit in others.items())
            text.append(f"  ({allowed})", style="dim")
        return text

    def _passes(self, kernel: KernelReport) -> None:
        from rich.table import Table
        from rich.text import Text

        if kernel.passes is UNSET:
            return
        self._console.print(Text("\n  Compiler passes that changed something", style="bold"))
        table = Table.grid(padding=(0, 2), pad_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(style="cyan")
        for change in kernel.passes:
            words = ", ".join(
                f"{name} {_step_text(old)} → {_step_text(new)}" for name, (old, new) in change.changed.items()
            )
            table.add_row(f"  {change.order:4}", change.pass_, Text(words))
        self._console.print(table)

    def _loops(self, kernel: KernelReport) -> None:
        from rich.text import Text

        if kernel.loops:
            self._console.print(Text("\n  Loops, per wavefront and iteration (inner loops included)", style="bold"))
        for loop in kernel.loops:
            self._hanging(_loop_line(loop))

    def _hanging(self, line: "str | Text", style: str = "", deeper: int = _DEEPER) -> None:
        """Print a line; its continuation lines are indented further."""
        from rich.padding import Padding
        from rich.text import Text

        plain = str(line)
        start = len(plain) - len(plain.lstrip(" "))
        words = together(line[start:] if isinstance(line, Text) else Text(line[start:], style=style))
        first, *rest = words.wrap(self._console, max(self._console.width - start - deeper, 20))
        self._console.print(Padding(first, (0, 0, 0, start)), highlight=False)
        for more in rest:
            self._console.print(Padding(more, (0, 0, 0, start + deeper)), highlight=False)


def _fitting(report: Report) -> tuple[int, bool]:
    """Return the number of causes, and whether to be brief, so that the answer about one kernel fits on a screen."""
    from rich.console import Console

    columns, lines = _SCREEN
    for causes, brief in _LESS:
        console = Console(file=io.StringIO(), width=columns, force_terminal=True, color_system=None)
        answer = ConsoleReporter(console, causes=causes, brief=brief).lines(report)
        if sum(-(-len(line) // columns) or 1 for line in answer) <= lines:
            return causes, brief
    return _LESS[-1]


def _step_text(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _loop_line(loop: LoopFacts) -> str:
    mark = "*" if loop.hot else " "
    return f"  {mark} {'  ' * (loop.depth - 1)}{loop.header}   {loop_summary(loop)}"


def _registers(resources: Any) -> str:
    def shown(value: Any) -> str:
        return "?" if value is None or value is UNSET else f"{value:,}"

    parts = [f"{shown(resources.vgpr)} VGPRs ({shown(resources.vgpr_allocated)} allocated)"]
    if resources.agpr not in {UNSET, 0}:
        parts.append(f"{shown(resources.agpr)} AGPRs")
    parts.append(f"{shown(resources.sgpr)} SGPRs")
    if resources.vgpr_spills not in {UNSET, 0}:
        parts.append(f"{shown(resources.vgpr_spills)} VGPRs spilled")
    if resources.sgpr_spills not in {UNSET, None, 0}:
        parts.append(f"{shown(resources.sgpr_spills)} SGPRs spilled")
    if resources.scratch_bytes not in {UNSET, 0}:
        parts.append(f"{shown(resources.scratch_bytes)} B scratch per lane")
    return "   ".join(parts)


def _lds(resources: Any) -> str:
    known = resources.lds_bytes not in {None, UNSET}
    used = kib(resources.lds_bytes) if known else "not known"
    between = " of " if known else ", at most "
    limit = "" if resources.lds_limit_bytes is UNSET else f"{between}{kib(resources.lds_limit_bytes)}"
    warps = resources.num_warps
    size = resources.wavefront_size
    if warps in {None, UNSET}:
        return f"{used}{limit}"
    return f"{used}{limit} per workgroup   {plural(warps, 'wavefront')} of {size} lanes"


def _short(place: str) -> str:
    """Return the file name and line of a path: ``k.py:12`` for ``/a/b/k.py:12``."""
    return place.rpartition("/")[2]
