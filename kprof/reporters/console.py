"""The report on the terminal: what holds the kernel back first, then what it takes and what its loops do."""

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from kprof.document import KernelReport, LoopFacts, Occupancy, Report
from kprof.findings import Finding
from kprof.reporters._console_text import (
    bar,
    config_line,
    kib,
    limiter,
    loop_summary,
    needs,
    option_in_the_way,
    plural,
    waves,
)
from kprof.reporters._finding_cost import gain_words
from kprof.reporters._known_advice import better
from kprof.reporters._loop_names import summary
from kprof.reporters._model_text import loop_lines, model_rows
from kprof.reporters._plain_words import apart, said, together
from kprof.reporters._rule_coverage import coverage_line, not_checked
from kprof.reporters._verdict_sentence import verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_COLOUR = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_VERDICT_COLOUR = {"ok": "green", "regression": "bold red", "cannot_tell": "bold yellow"}
_FINDINGS_SHOWN = 6
_ROOM_FOR_NAMES = 100
_DEEPER = 6
_HELD = {"before": "arguments or an earlier iteration", "?": "lines not known"}


class ConsoleReporter:
    """Prints to a rich console.

    Args:
        console: where to.
        verbose: 0 shows the hot loop and the first findings, 1 all loops, findings and notes, 2 evidence too.
    """

    def __init__(self, console: "Console", verbose: int = 0) -> None:
        self._console = console
        self._verbose = verbose

    def show(self, report: Report) -> None:
        """Print every kernel, then the verdict as the last line."""
        with self._console.capture() as capture:
            self._all(report)
        lines = apart(capture.get()).splitlines()
        # Tables pad their last column: nobody wants that in a file.
        end = str if self._console.is_terminal else str.rstrip
        self._console.file.write("".join(f"{end(line)}\n" for line in lines))

    def _all(self, report: Report) -> None:
        for kernel in report.kernels:
            self._kernel(kernel)
        self.verdict(report)

    def verdict(self, report: Report) -> None:
        """Print the last line only."""
        self._console.print(report.verdict.summary, style=_VERDICT_COLOUR[report.verdict.status], markup=False)

    def _kernel(self, kernel: KernelReport) -> None:
        from rich.text import Text

        self._console.print(together(Text(verdict(kernel), style="bold")))
        self._better(kernel)
        target = kernel.arch if kernel.product is UNSET else f"{kernel.arch} · {kernel.product}"
        made_by = f"Triton {kernel.triton}" if kernel.triton is not UNSET else kernel.compiler
        heading = Text(target)
        if made_by is not UNSET:
            heading.append(f"   {made_by}", style="dim")
        self._console.print(heading)
        if knobs := config_line(kernel):
            self._console.print(Text(knobs, style="dim"))
        self._console.print()
        if kernel.findings:
            self._console.print(self._findings(kernel))
        self._console.print(self._facts(kernel))
        self._tries(kernel)
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
        """What `kprof advise` found for this kernel, where somebody has asked it."""
        from rich.text import Text

        if kernel.advised is UNSET:
            return
        self._console.print(together(Text(better(kernel.advised), style="green")))
        for line in kernel.advised.code.splitlines():
            self._console.print(Text(f"  {line}", style="cyan"), soft_wrap=True)

    def _left_out(self, kernel: KernelReport) -> None:
        from rich.text import Text

        found = [plural(len(kernel.notes), "remark")] if kernel.notes else []
        if count := not_checked(kernel):
            found.append(f"{plural(count, 'rule')} not checked")
        if found:
            self._console.print(Text(f"  {', '.join(found)}: -v shows", style="dim"))

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

    def _findings(self, kernel: KernelReport) -> "Table":
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2), pad_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(ratio=1)
        narrow = self._console.width < _ROOM_FOR_NAMES
        if not narrow:
            table.add_column(no_wrap=True, justify="left")
        groups = _alike(kernel.findings, together=not self._verbose)
        shown = groups if self._verbose else groups[:_FINDINGS_SHOWN]
        for finding, *others in shown:
            colour = _COLOUR[finding.severity.value]
            message = finding.message if self._verbose else said(finding.message, kernel)
            where = "" if finding.location is UNSET else _short(str(finding.location))
            text = Text(message).append(f"; {len(others)} more alike" if others else "", style="dim")
            if words := gain_words(finding):
                text.append(f"; {words}", style="dim")
            cells = [
                Text(f"  {finding.severity.value}", style=colour),
                Text(finding.rule if narrow else f"{finding.rule} {finding.name}"),
                together(text.append(f"  {where}" if narrow and where else "", style="blue")),
            ]
            table.add_row(*cells, *([] if narrow else [Text(where, style="blue")]))
            if self._verbose:
                for place in finding.related[:4]:
                    table.add_row("", "", Text(f"also {place}", style="dim"))
            if self._verbose > 1 and finding.evidence:
                pairs = "  ".join(f"{k}={v}" for k, v in finding.evidence.items())
                table.add_row("", "", Text(pairs, style="dim"))
        if len(groups) > len(shown):
            table.add_row("", "", Text(f"{len(groups) - len(shown)} more: -v shows all", style="dim"))
        table.add_row("", "", "")
        return table

    def _facts(self, kernel: KernelReport) -> "Table":
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 3), pad_edge=False)
        table.add_column(no_wrap=True, style="bold")
        table.add_column(ratio=1)
        if kernel.occupancy is None:
            table.add_row("  Occupancy", Text("not known: see the remarks (-v)", style="yellow"))
        elif kernel.occupancy is not UNSET:
            table.add_row("  Occupancy", together(self._occupancy(kernel.occupancy)))
            step = kernel.occupancy.next_step
            if step is not UNSET:
                lds = UNSET if kernel.resources is UNSET else kernel.resources.lds_bytes
                words = needs(step, lds, option_in_the_way(kernel, step.waves_per_simd))
                table.add_row("", together(Text(words, style="cyan")))
        resources = kernel.resources
        if resources is not UNSET:
            table.add_row("  Registers", together(Text(_registers(resources))))
            table.add_row("  LDS", together(Text(_lds(resources))))
        for loop in kernel.loops:
            if loop.hot:
                table.add_row("  Hot loop", together(Text(summary(loop, kernel))))
        if not kernel.loops:
            seen = kernel.unseen is UNSET
            table.add_row("  Loops", Text("none: straight-line code") if seen else Text("not known", style="yellow"))
        if kernel.unseen is not UNSET:
            table.add_row("  Not seen", Text(kernel.unseen, style="yellow"))
        for label, text in model_rows(kernel, full=self._verbose > 0):
            table.add_row(label, together(text))
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
        if others:
            allowed = ", ".join(f"{limiter(name)} would allow {waves(limit)}" for name, limit in others.items())
            text.append(f"  ({allowed})", style="dim")
        return text

    def _tries(self, kernel: KernelReport) -> None:
        from rich.text import Text

        tries = list({(a.knob, str(a.to)): a for f in reversed(kernel.findings) for a in reversed(f.advice)}.values())[
            ::-1
        ]
        for number, advice in enumerate(tries[:3]):
            label = "  Try         " if number == 0 else "              "
            line = Text(label, style="bold").append(
                f"{advice.knob} {advice.from_} → {advice.to}", style="not bold cyan"
            )
            if advice.verified is not UNSET:
                changes = "   ".join(f"{name} {old} → {new}" for name, (old, new) in advice.verified.items())
                line.append(f"   {changes}", style="not bold")
            if advice.note is not UNSET:
                line.append(f"   {advice.note}", style="not bold dim")
            self._console.print(line)

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
            words = ", ".join(f"{name} {_step(old)} → {_step(new)}" for name, (old, new) in change.changed.items())
            table.add_row(f"  {change.order:4}", change.pass_, Text(words))
        self._console.print(table)

    def _loops(self, kernel: KernelReport) -> None:
        from rich.text import Text

        if kernel.loops:
            self._console.print(Text("\n  Loops, per wavefront and iteration (inner loops included)", style="bold"))
        for loop in kernel.loops:
            self._hanging(_loop_line(loop))

    def _hanging(self, line: str, style: str = "") -> None:
        """Print a line; where it is too long it goes on further in."""
        from rich.padding import Padding
        from rich.text import Text

        text = line.lstrip(" ")
        start = len(line) - len(text)
        first, *rest = Text(text, style=style).wrap(self._console, max(self._console.width - start - _DEEPER, 20))
        self._console.print(Padding(first, (0, 0, 0, start)), highlight=False)
        for more in rest:
            self._console.print(Padding(more, (0, 0, 0, start + _DEEPER)), highlight=False)


def _step(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _alike(findings: list[Finding], *, together: bool) -> list[list[Finding]]:
    """Findings of one rule on one line in one group: the loops of a kernel often share their source."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        place = finding.location
        key = (finding.rule, place.file, place.line) if together and place is not UNSET else number
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


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
        parts.append(f"{shown(resources.scratch_bytes)} B scratch a lane")
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
    return f"{used}{limit} a workgroup   {plural(warps, 'wavefront')} of {size} lanes"


def _short(place: str) -> str:
    """``/a/b/k.py:12`` to ``k.py:12``."""
    return place.rpartition("/")[2]
