"""Show the trials of ``kprof advise`` on the terminal."""

from typing import TYPE_CHECKING

from msgspec import UNSET

from kprof.condition import in_short
from kprof.output.assignments import assigned
from kprof.output.headline import tell_first, tell_last
from kprof.output.quantities import column_unit, plural, three_digits
from kprof.output.writing import log
from kprof.tuning.config_code import switches_and_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from kprof.document import KernelReport
    from kprof.tuning.evaluation import Evaluation
    from kprof.tuning.trials import Trials

_SHOWN = 6
NOT_MEASURED = "predicted; nothing was measured"
_UNIT = "cycles per element"
_DOMINATED = 3
_HEADINGS = (
    "predicted",
    "likely",
    "spilled",
    "scratch",
    "VGPRs",
    "waves",
    "LDS KiB",
    "loads",
    "full waits",
    "instr",
    "issue",
)
_TIMES = ("predicted", "likely")
# Columns to drop in a narrow terminal, in this order, and the width reserved for the column of changed knobs.
_SPARE = ("issue", "instr", "full waits", "LDS KiB", "loads")
_CHANGE = 26
_OF_THE_HOT_LOOP = {
    "scratch": "scratch",
    "loads": "loads (count x bytes per lane)",
    "full waits": "full waits (until no load is outstanding)",
    "instr": "instructions",
}


def show(trials: "Trials", console: "Console") -> None:
    """Show the trials and their results, and the verdict on standard output."""
    start = trials.start.report
    assert start is not None
    tell_first(verdict(trials), paste := _to_paste(trials))
    _show_start(trials.start, start, console)
    show_trials(trials, console)
    tell_last(verdict(trials), paste)


def _to_paste(trials: "Trials") -> str:
    """Return the best configuration as code; empty if the verdict recommends the current one."""
    chosen = trials.best and (trials.told_apart or trials.ranked_by == "resources")
    return switches_and_code(trials.best[0].config) if chosen else ""


def _show_start(trial: "Evaluation", start: "KernelReport", console: "Console") -> None:
    """Show the unchanged kernel: time, bound, problem, hot loop."""
    from kprof.output.quantities import predicted_time
    from kprof.reporters import _kernel_words
    from kprof.reporters.answer import hot_loop_line, launch_line, performance

    console.print(_kernel_words.verdict(start), style="bold", markup=False, highlight=False)
    if start.model is UNSET and trial.time_us is not None and trial.shares:
        time = predicted_time(trial.time_us, trial.low_us, trial.high_us)
        most = _kernel_words.most_of_the_time(trial.shares, start)
        console.print(f"{time}, {most}", markup=False, highlight=False)
    hot = hot_loop_line(start)
    file = "" if start.source is UNSET else f" of {start.source.file.rpartition('/')[2]}"
    loop = f"hot loop{file} {hot}" if hot else ""
    for line in (launch_line(start), performance(start), loop, f"Triton {start.triton}"):
        if line:
            console.print(line, markup=False, highlight=False)


def show_trials(trials: "Trials", console: "Console") -> None:
    """Show the trials and their results."""
    console.print(assigned(trials.start.config), style="dim", markup=False)
    console.print()
    table, legend = _table(trials, console.width)
    console.print(table)
    console.print(legend, style="dim")
    for reason, count in sorted(trials.failed.items(), key=lambda item: -item[1])[:3]:
        log(f"{plural(count, 'configuration')} left out: {reason}")
    if trials.why:
        instead = "" if trials.ranked_by == "cycles" else "; resources and instructions are compared instead"
        log(f"no times: {trials.why}{instead}")
    why = "because the latest ones brought no improvement" if trials.settled else "because the time limit was reached"
    left = f", {trials.left} left out {why}" if trials.left else ""
    console.print(f"\n{plural(trials.tried, 'configuration')} compiled in {trials.seconds:.0f} s{left}.", style="dim")
    if trials.best:
        predicted = {
            "time": f" Predicted: time ({in_short(trials.condition)}).",
            "cycles": f" Predicted: {_UNIT} of {trials.start.axis}.",
        }.get(trials.ranked_by, "")
        console.print(f"Verified: resources and instructions.{predicted} Nothing was measured.", style="dim")
    assumed = dict.fromkeys(said for trial in (trials.start, *trials.best[:_SHOWN]) for said in trial.assumptions)
    for said in assumed:
        console.print(f"Assumed: {said}", style="dim", markup=False)
    if asked := trials.to_measure:
        console.print(f"= not distinguished: time these {len(asked)} on the GPU before choosing one:", style="dim")
        for trial in asked:
            name = assigned(trial.change) or "as it is"
            code = switches_and_code(trial.config).replace("\n", "\n  ")
            console.print(f"= {name}\n  {code}", markup=False, soft_wrap=True)


def verdict(trials: "Trials") -> str:
    """Return one line with the change to try first and its predicted gain."""
    if not trials.best:
        if trials.left and not trials.tried:
            return "cannot tell: the budget was spent before a configuration was compiled"
        return "no change of knobs helps: " + (
            "none is predicted to be faster"
            if trials.ranked_by != "resources"
            else "none improves one figure without making another worse"
        )
    first = assigned(trials.best[0].change)
    if trials.ranked_by == "resources":
        return f"{plural(len(trials.best), 'configuration')} worth trying, first {first}; {NOT_MEASURED}"
    if not trials.told_apart:
        why = "no predicted gain is large enough to be certain"
        return f"keep yours: {why}; the best candidate: {first}{_gain(trials)}; {NOT_MEASURED}"
    return f"try {first}{_gain(trials)}; {NOT_MEASURED}"


def _gain(trials: "Trials") -> str:
    """Return the predicted cost without and with the first proposal."""
    from kprof.output.quantities import duration

    start, best = trials.start, trials.best[0]
    found = trials.beside_start(best)
    if found is None:
        return ""
    if start.time_us is not None and best.time_us is not None:
        return f" (predicted {duration(start.time_us)} → {duration(best.time_us)}, {found.words()})"
    return f" (predicted {start.cost:.3g} → {best.cost:.3g} {_UNIT} of {start.axis}, {found.words()})"


def _table(trials: "Trials", width: int) -> "tuple[Table, str]":
    """Return the table of the trials and its legend; less important columns are dropped if there is little room."""
    from rich.table import Table

    best, dominated = trials.best[:_SHOWN], trials.dominated[:_DOMINATED]
    every = (trials.start, *best, *dominated)
    unit, size = column_unit(us for trial in every if (us := trial.time_us) is not None)
    cells = {id(trial): _cells(trial, size) for trial in every}
    kept = _fitting(list(cells.values()), width - _CHANGE)
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("change")
    for place in kept:
        heading = _HEADINGS[place]
        timed = heading in _TIMES and trials.start.time_us is not None
        table.add_column(f"{heading} {unit}" if timed else heading, justify="right", no_wrap=True)

    alike = trials.to_measure

    def add(trial: "Evaluation", name: str, style: str | None) -> None:
        table.add_row(
            f"= {name}" if trial in alike else name, *(cells[id(trial)][place] for place in kept), style=style
        )

    add(trials.start, "as it is", "dim")
    for number, trial in enumerate(best):
        add(trial, assigned(trial.change), "bold" if number == 0 else None)
    if dominated:
        table.add_section()
        table.add_row("dominated by another:", style="dim")
        for trial in dominated:
            add(trial, assigned(trial.change), "dim")
    return table, _legend([_HEADINGS[place] for place in kept])


def _legend(shown: "Sequence[str]") -> str:
    """Return the legend of the shown columns, with the names of dropped ones."""
    *some, last = [words for name, words in _OF_THE_HOT_LOOP.items() if name in shown]
    loop = f"{', '.join(some)} and {last}" if some else last
    parts = ["waves per SIMD", f"{loop} of one iteration of the hot loop"]
    if "issue" in shown:
        parts.append("issue: least issue cycles for 1,000 operations")
    if missing := [name for name in _HEADINGS if name not in shown]:
        parts.append(f"columns left out for width: {', '.join(missing)}")
    return "; ".join(parts)


def _fitting(rows: list[list[str]], room: int) -> list[int]:
    """Return the indices of the columns that fit; columns in ``_SPARE`` are dropped first."""
    named = [f"{name} ms" if name in _TIMES else name for name in _HEADINGS]
    sizes = [max(map(len, column)) + 2 for column in zip(named, *rows, strict=True)]
    kept = list(range(len(_HEADINGS)))
    for name in _SPARE:
        if sum(sizes[place] for place in kept) > room:
            kept.remove(_HEADINGS.index(name))
    return kept


def _predicted(trial: "Evaluation", size: float) -> str:
    if trial.time_us is not None:
        return three_digits(trial.time_us / size)
    return "-" if trial.cost is None else f"{trial.cost:.3g} cyc"


def _cells(trial: "Evaluation", size: float) -> list[str]:
    """Return the cells of a row; times are in the column's unit of ``size`` microseconds."""
    from kprof.reporters.tune_text import spread_cell

    measure = trial.measure
    assert measure is not None
    loads = " ".join(f"{count}x{width}" for width, count in measure.loads.items())
    issue = "" if measure.issue_per_work == float("inf") else f"{measure.issue_per_work:.3g}"
    return [
        _predicted(trial, size),
        spread_cell(trial.low_us, trial.high_us, size),
        f"{measure.vgpr_spills}",
        f"{measure.scratch}",
        f"{measure.vgprs}",
        f"{measure.waves:g}",
        f"{measure.lds_bytes / 1024:.4g}",
        loads or "-",
        f"{measure.full_waits}",
        f"{measure.instructions}",
        issue,
    ]
