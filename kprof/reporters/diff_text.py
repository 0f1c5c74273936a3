"""Text of a comparison: regressions first, each with its explanation, and the verdict."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kprof.diffing.document import Change, Diff, Explanation, KernelDiff, Since
from kprof.output.quantities import plural
from kprof.output.sink import clean, one_line
from kprof.reporters import _diff_wording as words
from kprof.reporters import _since_wording as since_words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_STYLE = {"error": "bold red", "warning": "yellow", "note": "cyan", "better": "green", "unknown": "magenta"}
_VERDICT = {"ok": "green", "regression": "bold red", "cannot_tell": "bold yellow"}
_KERNELS = 20
_OTHERS = 5
_WIDE = 100


class DiffTextReporter:
    """Reporter that prints to a rich console.

    Args:
        console: the console.
        verbose: 1 also shows every change and the kernels that did not get worse, 2 also unchanged kernels.
    """

    def __init__(self, console: "Console", verbose: int = 0) -> None:
        self._console = console
        self._verbose = verbose

    def show(self, diff: Diff) -> None:
        """Print the whole comparison; the verdict comes first on a terminal, else last."""
        if self._console.is_terminal:
            self.verdict(diff)
            self._console.print()
        harmed = words.with_status(diff.kernels, {"worse", "mixed", "unknown"})
        others = words.with_status(diff.kernels, {"better", "new", "gone"})
        quiet = words.with_status(diff.kernels, {"changed"})
        if not harmed and len(diff.kernels) <= _OTHERS:
            others, quiet = [*others, *quiet], []
        shown = [*harmed[: None if self._verbose else _KERNELS], *others[: None if self._verbose else _OTHERS]]
        if self._verbose:
            shown += quiet
        if self._verbose > 1:
            shown += words.with_status(diff.kernels, {"same"})
        if isinstance(diff.since, Since):
            self._since(diff.since)
        if diff.kernels or not isinstance(diff.since, Since):
            self._head(diff, shown)
        if shown:
            self._tables(diff, shown)
            self._console.print()
        harmed_left = len(harmed) - sum(kernel in harmed for kernel in shown)
        left = len(diff.kernels) - len(shown) - diff.counts.get("same", 0) * (self._verbose <= 1) - harmed_left
        hidden = [f"{harmed_left} more {'is' if harmed_left == 1 else 'are'} worse"] * bool(harmed_left) + [
            f"{left} {'differs' if left == 1 else 'differ'} without harm"
        ] * bool(left)
        if hidden:
            self._console.print(f"{', '.join(hidden)}: -v shows them\n", style="dim")
        for kernel in shown:
            if isinstance(kernel.explanation, Explanation):
                self._explanation(diff, kernel, kernel.explanation)
        for side in diff.sides:
            for problem in side.problems[: None if self._verbose else _OTHERS]:
                self._print(f"{side.label}: {problem}", "yellow")
        for note in diff.notes:
            self._print(f"remark: {note}", "dim")
        if not self._console.is_terminal:
            self.verdict(diff)

    def verdict(self, diff: Diff) -> None:
        """Print only the verdict."""
        self._print(diff.verdict.summary, _VERDICT[diff.verdict.status])

    def _since(self, since: Since) -> None:
        """Print the numbers of kernels by status, then those that changed or may have changed."""
        first, *others = since_words.head(since)
        self._print(first, "bold")
        for line in others:
            self._print(line)
        self._print("")
        found = since_words.changed(since)
        shown = found if self._verbose else found[:_KERNELS]
        for kernel in shown:
            place, *lines = since_words.kernel(kernel, verbose=bool(self._verbose))
            self._print(place)
            for line in lines:
                self._print(f"    {line}", "dim")
        if len(found) > len(shown):
            self._print(f"{len(found) - len(shown)} more: -v shows them", "dim")
        if shown:
            self._print("")

    def _print(self, text: str, style: str | None = None) -> None:
        # Wrap lines on a terminal, which would break them inside words, but not in a log. Escape newlines inside names,
        # because each would start a new line.
        whole = one_line(text.rstrip("\n")) + "\n" * text.endswith("\n")
        self._console.print(whole, style=style, markup=False, soft_wrap=not self._console.is_terminal)

    def _head(self, diff: Diff, shown: Sequence[KernelDiff]) -> None:
        """Print what is compared; for a single kernel also its knobs."""
        releases = all(set(side.tritons) <= {side.label.partition(" ")[0]} for side in diff.sides)
        releases = releases and any(side.tritons for side in diff.sides)
        names = [side.label if releases else _named(side.label, side.tritons) for side in diff.sides]
        way = ("Triton " if releases else "") + " → ".join(names)
        if len(diff.kernels) == 1 and shown:
            kernel = diff.kernels[0]
            name = _escape(words.title(diff, kernel))
            self._console.print(f"[bold]{name}[/bold]   {_escape(kernel.arch)}   {_escape(way)}", highlight=False)
            for line in filter(None, (words.launch(kernel), words.knobs(kernel))):
                self._print(line, "dim")
        else:
            self._console.print(
                f"[bold]{_escape(way)}[/bold]   {plural(len(diff.kernels), 'kernel')}: {words.counts(diff) or 'none'}"
            )
        self._console.print()

    def _tables(self, diff: Diff, shown: Sequence[KernelDiff]) -> None:
        """Print one table for all kernels, or one per kernel in a narrow terminal."""
        alone = len(diff.kernels) == 1
        if not alone and self._console.width >= _WIDE:
            self._console.print(self._table(diff, shown, many=True))
            return
        for number, kernel in enumerate(shown):
            if not alone:
                self._console.print(
                    "\n" * bool(number) + f"[bold]{_escape(words.title(diff, kernel))}[/bold]  {_escape(kernel.arch)}"
                )
            self._console.print(self._table(diff, [kernel], many=False))
            for tail in self._tail(diff, kernel, with_knobs=not alone):
                self._print(tail, "dim")

    def _table(self, diff: Diff, shown: Sequence[KernelDiff], *, many: bool) -> "Table":
        from rich.table import Table

        table = Table(box=None, pad_edge=False, padding=(0, 1), show_header=True, header_style="dim")
        if many:
            table.add_column("kernel", overflow="fold", max_width=max(12, self._console.width // 4))
            table.add_column("arch", no_wrap=True)
        table.add_column("harm", no_wrap=True)
        table.add_column("what", overflow="fold", ratio=1)
        table.add_column(self._arrow(diff), justify="right", no_wrap=True)
        table.add_column("where", overflow="fold")
        for kernel in shown:
            self._rows(table, diff, kernel, many=many)
        return table

    def _arrow(self, diff: Diff) -> str:
        """Return the heading of the column of values: the sides' names, or ``old → new`` if they are too long."""
        labels = [side.label.removesuffix(" (installed)") for side in diff.sides]
        short = [_short(label) for label in labels]
        arrow = " → ".join(short)
        fits = len(arrow) < self._console.width // 3 and (short == labels or len(labels) > 2)
        return arrow if fits else "old → new"

    def _rows(self, table: "Table", diff: Diff, kernel: KernelDiff, *, many: bool) -> None:
        from rich.text import Text

        step = words.step_of(kernel)
        head = [Text(clean(words.title(diff, kernel)), style="bold"), Text(kernel.arch)] if many else []
        if step is None or not step.changes:
            style = _STYLE["error"] if kernel.status == "worse" else "dim"
            what = ", ".join(filter(None, (words.since(diff, kernel), words.predicted(kernel))))
            table.add_row(*head, Text(kernel.status, style=style), Text(clean(what)), "", "")
            return
        changes, _left = words.shown(step, self._verbose)
        blank = [""] * len(head)
        for number, change in enumerate(changes):
            cells = self._cells(kernel, change, words.values(kernel, step, change, len(diff.sides)))
            table.add_row(*(blank if number else head), *cells)
        if many:
            for text in self._tail(diff, kernel, with_knobs=True):
                table.add_row(*blank, "", Text(text, style="dim"), "", "")

    def _tail(self, diff: Diff, kernel: KernelDiff, *, with_knobs: bool) -> list[str]:
        """Return the text lines below the table of a kernel's changes."""
        step = words.step_of(kernel)
        if step is None:
            return []
        tail = words.remarks(kernel, step, self._verbose, code=True)
        tail += [words.knobs(kernel)] if with_knobs and self._verbose else []
        if words.differs(step):
            tail.append(f"compiled differently: {words.differs(step)}")
        tail += step.notes
        if len(diff.sides) > 2 and step.changes:
            tail.append(words.since(diff, kernel))
        left = words.shown(step, self._verbose)[1]
        if left:
            tail.append(f"{left} more: -v")
        return [clean(text) for text in tail]

    def _cells(self, kernel: KernelDiff, change: Change, values: str) -> "list[Text]":
        from rich.text import Text

        kind = words.kind(change)
        style = _STYLE.get(kind, "dim")
        return [
            Text(kind, style=style),
            Text(clean(words.what(change, self._verbose))),
            Text(values, style=style),
            Text(clean(words.where(kernel, change))),
        ]

    def _explanation(self, diff: Diff, kernel: KernelDiff, found: Explanation) -> None:
        from rich.table import Table
        from rich.text import Text

        many = len(diff.kernels) > 1
        name = f"{words.title(diff, kernel)} on {kernel.arch}: " if many else ""
        why = Table.grid(padding=(0, 2), pad_edge=False)
        why.add_column(no_wrap=True)
        why.add_column(overflow="fold")
        why.add_row(Text("Why", style="bold"), Text(clean(name + found.summary)))
        for note in filter(None, [words.stage_line(diff, found), *found.notes]):
            why.add_row("", Text(clean(note), style="dim"))
        self._console.print(why)
        if found.causes or found.cures:
            self._console.print()
            self._console.print(self._trials(diff, kernel, found))
        for line in words.cure_times(found):
            self._print(line, "dim")
        left = f", {found.left} left out because the time limit was reached" if found.left else ""
        failed = f", {found.failed} did not compile" if found.failed else ""
        self._print(
            f"{found.tried} changes compiled in {found.seconds:.0f} s{failed}{left}. Verified: resources and "
            "instructions. Not measured: which one is faster.\n",
            "dim",
        )

    def _trials(self, diff: Diff, kernel: KernelDiff, found: Explanation) -> "Table":
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
        table.add_column("", no_wrap=True)
        for heading in words.FIGURES.values():
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("change", overflow="fold")
        roles = ["", "", *["cause" if t.cured else "in part" for t in found.causes], *["fix"] * len(found.cures)]
        for role, (label, figures, price) in zip(roles, words.trial_rows(diff, kernel, found), strict=True):
            text = Text(clean(label if role else ""), style={"fix": "green"}.get(role, "bold"))
            if price:
                text.append(f"  at the price of: {clean(price)}", style="dim")
            table.add_row(
                Text(role or _short(label), style="dim"),
                *(Text(words.number(value) if value is not None else "") for value in figures),
                text,
            )
        return table


def _named(label: str, tritons: Sequence[str]) -> str:
    """Return a side's label with its Triton versions."""
    return f"{label} (Triton {', '.join(tritons)})" if tritons else label


def _short(label: str) -> str:
    label = label.removesuffix(" (installed)")
    return label if len(label) <= 12 else f"…{label[-11:]}"


def _escape(text: str) -> str:
    from rich.markup import escape

    return str(escape(one_line(text)))
