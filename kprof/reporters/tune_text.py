"""The terminal output of ``kprof tune``."""

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kprof.condition import in_short
from kprof.output.assignments import assigned
from kprof.output.command_line import with_option
from kprof.output.headline import with_next
from kprof.output.quantities import column_unit, duration, likely, three_digits
from kprof.output.terminal import terminal

if TYPE_CHECKING:
    from rich.console import Console

    from kprof.tuning.document import Ranked, SearchFacts, TunedProblem, TuneReport

_REASONS = 4
_ENDED = {"complete": "", "budget": ", --budget is spent", "interrupted": ", stopped by Ctrl-C"}


def show(report: "TuneReport", *, no_color: bool) -> None:
    """Print the result, except the verdict and the code to paste."""
    console = terminal(no_color=no_color)
    product = f" · {report.product}" if report.product else ""
    predicted_so = f"predicted ({in_short(report.condition)}), nothing was run"
    how = f"measured on {report.measured_on}" if report.measured_on else predicted_so
    console.print(
        f"[bold]{report.kernel}[/bold]   {report.arch}{product}   Triton {report.triton}   {how}", highlight=False
    )
    if len(report.problems) > 1:
        console.print()
        _dispatch(console, report)
    single = len(report.problems) == 1
    for problem in report.problems:
        if single or len(problem.short_list) > 1 or not problem.short_list:
            console.print()
            _problem(console, problem, report.product or report.arch)
    console.print()
    _footer(console, report)


def to_paste(report: "TuneReport") -> str:
    """Return the best configuration as code; empty for several problems or if the current configuration is kept."""
    from kprof.tuning.config_code import config_code

    if len(report.problems) != 1 or not report.problems[0].ranking or _keeps_own(report.problems[0]):
        return ""
    return config_code(report.problems[0].ranking[0].config)


def verdict(report: "TuneReport") -> str:
    """Return the recommendation in one line."""
    ended = _ENDED[report.search.ended]
    gains = [times for problem in report.problems if (times := _gain(problem)) is not None]
    if len(report.problems) > 1 and len(gains) == len(report.problems):
        gain = f"{min(gains):.2f}x to {max(gains):.2f}x as fast as the kernel's own"
        return f"tune {report.kernel} on {report.arch}: {len(report.problems)} problems, {gain}{ended}"
    if len(report.problems) != 1 or not report.problems[0].ranking:
        example = report.search.example.partition("\n")[0]
        why = f": {example}" if example and not any(p.ranking for p in report.problems) else ""
        return f"tune {report.kernel} on {report.arch}: {report.verdict.summary}{ended}{why}"
    (problem,) = report.problems
    # If the times are equal, the user's current configuration is kept, since a change would gain nothing.
    best = problem.own if _keeps_own(problem) and problem.own is not None else problem.ranking[0]
    time = f"{predicted(best)} predicted{likely(best.low_us, best.high_us)}"
    if best.given:
        time = f"{predicted(best)} measured, as given"
    if best.measured_ms is not None:
        time = f"{duration(1000 * best.measured_ms)} measured"
    if _keeps_own(problem):
        words = f"keep the kernel's own, {time}: {_why_kept(problem, gains[0])}"
        return f"tune {report.kernel} on {report.arch}: {words}{ended}; own: {assigned(best.config)}"
    gain = f", {gains[0]:.2f}x as fast as the kernel's own{_sure(best, problem.own)}" if gains else ""
    found = f"tune {report.kernel} on {report.arch}: {time}{gain}{ended}: {assigned(best.config)}"
    if problem.ties <= 1 or best.measured_ms is not None:
        return found
    why = f"on the GPU; it times the {problem.ties} that the model does not distinguish from row 1"
    return with_next(found, f"{with_option('--verify')} ({why})")


_ALIKE = 1.03
"""Times whose ratio is below this count as equal; no change of the configuration is recommended."""


def _sure(best: "Ranked", own: "Ranked | None") -> str:
    """Return the model's certainty that the best configuration is faster; empty if both were measured."""
    if own is None or own.certainty is None or best.measured_ms is not None:
        return ""
    return f" ({100 * own.certainty:.0f} % sure)"


def _keeps_own(problem: "TunedProblem") -> bool:
    """Return whether the best other configuration is at most 3 % faster, or too close for the model to decide."""
    gain = _gain(problem)
    return gain is not None and (gain <= _ALIKE or (problem.own is not None and problem.own.tie))


def _why_kept(problem: "TunedProblem", gain: float) -> str:
    if gain < 1 / _ALIKE:
        return f"the best other configuration takes {_best_time(problem)}"
    if gain <= _ALIKE:
        return "nothing faster was found"
    return f"the {_best_time(problem)} of another one are too close: only timing both can decide"


def _gain(problem: "TunedProblem") -> float | None:
    """Return the speedup of the first configuration over the kernel's own; it is measured if both were measured."""
    if problem.own is None or not problem.ranking:
        return None
    best = problem.ranking[0]
    if best.measured_ms is not None and problem.own.measured_ms is not None:
        return problem.own.measured_ms / best.measured_ms
    return problem.own.cost / best.cost if best.cost else None


def predicted(one: "Ranked") -> str:
    """Return the predicted time, ``210 µs``, or ``3.1 cycles per element of n`` if no time is known."""
    return element_cycles(one.cost, one.axis) if one.time_us is None else duration(one.time_us)


def element_cycles(cycles: float, axis: str) -> str:
    """Return cycles per element of an axis, ``3.1 cycles per element of n``."""
    return f"{cycles:.3g} cycles per element of {axis}"


def _best_time(problem: "TunedProblem") -> str:
    """Return the time of the first configuration; the measured time if the kernel's own was measured too."""
    assert problem.own is not None
    best, own = problem.ranking[0], problem.own
    both = best.measured_ms is not None and own.measured_ms is not None
    return duration(1000 * best.measured_ms) if both and best.measured_ms is not None else predicted(best)


def common(configs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the knobs with the same value in all configurations; empty for a single one."""
    if len(configs) < 2:
        return {}
    first = configs[0]
    return {n: v for n, v in first.items() if all(n in c and c[n] == v for c in configs[1:])}


def _problem(console: "Console", problem: "TunedProblem", gpu: str) -> None:
    from kprof.reporters._model_text import time_words

    ranking = [problem.ranking[place] for place in problem.short_list]
    console.print(f"{problem.name}{_speed(problem, gpu)}", style="bold", markup=False)
    if problem.ranking and problem.ranking[0].measured_ms is None and (time := time_words(problem.ranking[0].shares)):
        _fold(console, f"time of row 1   {time}", indent=16)
    if not ranking:
        console.print("  no configuration could be predicted", markup=False)
        if problem.own is None:
            return
    rows = [*ranking, *([problem.own] if problem.own is not None else [])]
    shared = common([one.config for one in ranking])
    _table(console, rows, len(ranking), shared)
    for text, values in (("all rows", shared), ("assumed", problem.assumed)):
        if values:
            _fold(console, f"{text}: {assigned(values)}")
    if problem.ties > 1 and ranking[0].measured_ms is not None:
        _fold(console, f"= within 3 % of the first ({problem.ties} programs in all)")
    elif problem.ties > 1:
        rest = f"; -n {problem.ties} lists them" if problem.ties > len(ranking) else ""
        _fold(console, f"= not distinguished from the first ({problem.ties} in all{rest})")
    _fold_certainty(console, problem)
    for line in problem.learned:
        _fold(console, f"learned: {line}")
    timed = [one for one in ranking if one.measured_ms is not None]
    if len(timed) > 1:
        first = min(timed, key=lambda one: one.cost)
        ratio = (first.measured_ms or 0.0) / (timed[0].measured_ms or 1.0)
        _fold(console, f"of the {len(timed)} measured, the one predicted to be fastest takes {ratio:.2f}x the fastest")
    if axis := next((one.axis for one in ranking if one.axis), ""):
        from kprof.tuning.work import OPERATIONS

        unknown = "the number of iterations of a loop" if axis == OPERATIONS else "its extent"
        _fold(console, f"no times: cycles of the busiest CU for each element of {axis}; {unknown} is not known")
    parts = dict.fromkeys(name for one in ranking for name in one.parts)
    if parts:
        _fold(console, f"times include what is launched besides the kernel: {', '.join(parts)}")


def _fold_certainty(console: "Console", problem: "TunedProblem") -> None:
    """Print how certain it is that the first configuration beats the kernel's own, and the next distinguishable one."""
    other = next((one for one in problem.ranking[1:] if not one.tie), None)
    # If the first configuration is the kernel's own, there is nothing to compare.
    own = None if problem.ranking and _is_own(problem, problem.ranking[0]) else problem.own
    named = [("the kernel's own", own), ("the next row without =", other)]
    said = [f"than {name}: {100 * one.certainty:.0f} %" for name, one in named if one is not None and one.certainty]
    if said:
        _fold(console, f"certainty that row 1 is faster {', '.join(said)}")
    elif _no_published_times(problem, other):
        _fold(console, "certainty that row 1 is faster: not known, no published times of this architecture")


def _is_own(problem: "TunedProblem", one: "Ranked") -> bool:
    return problem.own is not None and problem.own.config == one.config


def _no_published_times(problem: "TunedProblem", other: "Ranked | None") -> bool:
    """Return whether a missing certainty means missing published times: all times are predicted, with narrow ranges."""
    from kprof.tuning.candidates import WIDE

    if not problem.ranking:
        return False
    first = problem.ranking[0]
    pair = [first, *(one for one in (other, problem.own) if one is not None and one.config != first.config)]
    bounded = first.low_us is not None and first.high_us is not None and first.high_us <= WIDE * first.low_us
    predicted_only = all(one.time_us is not None and one.measured_ms is None and not one.given for one in pair)
    return len(pair) > 1 and bounded and predicted_only


def _table(console: "Console", rows: "Sequence[Ranked]", ranked: int, shared: Mapping[str, Any]) -> None:
    """Print one line per configuration, with a column per differing knob, or knobs below it if there is no room."""
    measured = any(one.measured_ms is not None for one in rows)
    every = dict.fromkeys(n for one in rows for n in one.config)
    names = [n for n in every if any(n not in shared or one.config.get(n) != shared[n] for one in rows)]
    times = [1000 * ms for one in rows if (ms := one.measured_ms) is not None]
    times += [us for one in rows if (us := one.time_us) is not None]
    unit, size = column_unit(times)
    heads = [*["measured"] * measured, "time", "likely"]
    headings = ["", *(f"{head} {unit}" if times else head for head in heads), "bound", "VGPR", "spills", "LDS", "waves"]
    marks = [f"{i}{'=' if one.tie else ' '}" if i <= ranked else "own" for i, one in enumerate(rows, 1)]
    cells = [[mark, *_cells(one, size, measured=measured)] for mark, one in zip(marks, rows, strict=True)]
    wide = [[str(one.config.get(name, "-")) for name in names] + [_remark(one)] for one in rows]
    lines = aligned([[*headings, *names, ""], *([*a, *b] for a, b in zip(cells, wide, strict=True))])
    narrow = max(map(len, lines)) >= console.width
    if narrow:
        lines = aligned([headings, *cells])
    console.print(lines[0], style="dim", markup=False, soft_wrap=True)
    for number, (one, line) in enumerate(zip(rows, lines[1:], strict=True), 1):
        style = "dim" if number > ranked else "bold" if number == 1 else ""
        console.print(line, style=style, markup=False, soft_wrap=True)
        if narrow:
            own = {n: one.config[n] for n in names if n in one.config and shared.get(n, shared) != one.config[n]}
            said = " ".join(filter(None, (assigned(own), _remark(one))))
            _fold(console, f"     {said}", indent=5)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines: numbers are right-aligned, words left-aligned."""
    sizes = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = [any(cell[:1].isdigit() for cell in column[1:]) for column in zip(*rows, strict=True)]
    right[0] = False
    return [
        "  ".join(c.rjust(n) if r else c.ljust(n) for c, n, r in zip(row, sizes, right, strict=True)).rstrip()
        for row in rows
    ]


def _speed(problem: "TunedProblem", gpu: str) -> str:
    """Return the rate of the first configuration if the problem's work is known: operations, or bytes.

    A problem with more than 32 operations per byte is rated by operations.
    """
    if not problem.ranking:
        return ""
    best = problem.ranking[0]
    if best.measured_ms is None and best.time_us is None:
        return ""
    seconds = best.cost * 1e-6 if best.measured_ms is None else best.measured_ms * 1e-3
    flops, moved = problem.flops or 0, problem.bytes or 0
    if flops > 32 * moved:
        return f"   row 1 reaches {flops / seconds / 1e12:,.3g}{_of_peak(problem, gpu)} TFLOP/s"
    return f"   row 1 reaches {moved / seconds / 1e12:.3g} TB/s" if moved else ""


def _of_peak(problem: "TunedProblem", gpu: str) -> str:
    """Return the GPU's published peak for the problem's type, such as `` of 1,307``, or "" if there is none."""
    from kprof.hardware.machine import find_product, load
    from kprof.reporters._model_text import ASSUMED_PRODUCT
    from kprof_analyzers.peaks import arithmetic

    names = [gpu, *(found[1] for said in problem.assumptions if (found := ASSUMED_PRODUCT.match(said)))]
    product = next(filter(None, map(find_product, names)), None)
    peak = None if product is None else arithmetic(load(gpu), product, f"matrix_{problem.shape.get('dtype')}")
    return "" if peak is None else f" of {peak:,.0f}"


def _remark(one: "Ranked") -> str:
    count = len(one.alike) + one.variants
    alike = f"+{count:,} alike" if count else ""
    return ", ".join(filter(None, (alike, "measured, given" if one.given else "", one.note)))


def _cells(one: "Ranked", size: float, *, measured: bool) -> list[str]:
    """Return the cells of a row; times are in the column's unit of ``size`` microseconds."""
    own = [] if not measured else ["-" if one.measured_ms is None else three_digits(1000 * one.measured_ms / size)]
    lds = one.resources.lds_bytes
    return [
        *own,
        f"{one.cost:.3g} cycles" if one.time_us is None else three_digits(one.time_us / size),
        spread_cell(one.low_us, one.high_us, size),
        one.bound,
        _count(one.resources.vgpr_allocated),
        _count(one.resources.vgpr_spills),
        "?" if lds is None else f"{lds / 1024:.4g} KiB" if lds >= 1024 else f"{lds} B",
        _count(one.resources.waves_per_simd),
    ]


def spread_cell(low_us: float | None, high_us: float | None, size: float) -> str:
    """Return the bounds of a time, for a column in units of ``size`` microseconds."""
    if low_us is None or high_us is None:
        return "-"
    return f"{three_digits(low_us / size)}-{three_digits(high_us / size)}"


def _count(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"


def _dispatch(console: "Console", report: "TuneReport") -> None:
    """Print one line per problem: the best configuration, its time, and its gain over the kernel's own."""
    shared = common([p.ranking[0].config for p in report.problems if p.ranking])
    names = list(dict.fromkeys(n for p in report.problems if p.ranking for n in p.ranking[0].config if n not in shared))
    rows = [["problem", "time", "own", "gain", "ties", *names]]
    for problem in report.problems:
        if not problem.ranking:
            rows.append([problem.name, *["-"] * (4 + len(names))])
            continue
        best, own = problem.ranking[0], problem.own
        figures = [_time_text(best), "?", "?", str(problem.ties)]
        if own is not None:
            figures[1:3] = [_time_text(own), f"{_gain(problem):.2f}x"]
        rows.append([problem.name, *figures, *(str(best.config.get(name, "-")) for name in names)])
    lines = aligned(rows)
    if max(map(len, lines)) < console.width:
        for number, line in enumerate(lines):
            console.print(line, style="" if number else "dim", markup=False, soft_wrap=True)
    else:
        for problem, row in zip(report.problems, rows[1:], strict=True):
            chosen = problem.ranking[0].config if problem.ranking else {}
            console.print(row[0], markup=False, soft_wrap=True)
            said = assigned({name: chosen[name] for name in names if name in chosen})
            _fold(console, f"     {row[1]}, own {row[2]}, {row[3]}, {row[4]} tied: {said}", indent=5)
    if shared:
        _fold(console, f"all rows: {assigned(shared)}")


def _time_text(one: "Ranked") -> str:
    return predicted(one) if one.measured_ms is None else duration(1000 * one.measured_ms)


def _footer(console: "Console", report: "TuneReport") -> None:
    search, space = report.search, report.space
    pruned = sum(space.pruned.values())
    what = f"{space.size:,} combinations of {space.origin}"
    if len(report.problems) > 1:
        what += f" for {len(report.problems)} problems"
    left = f", {pruned:,} pruned{_reasons(space.pruned)}" if pruned else ""
    _fold(console, f"Space    {what}: {space.legal:,} to explore{left}")
    cached = f" ({search.cached:,} from the cache)" if search.cached else ""
    rate = f", {search.compiles / search.seconds:.1f} compiles/s" if search.seconds and search.compiles else ""
    uncompiled = search.looked_at - search.compiled
    judged = f" + {uncompiled:,} evaluated without a compile" if uncompiled else ""
    _fold(
        console,
        f"Search   {search.looked_at:,} explored, {_tiles(search)}: {search.compiled:,} compiled{cached}{judged} in "
        f"{search.seconds:.0f} s by {search.workers}{rate}{_ENDED[search.ended]}",
    )
    if uncompiled:
        _fold(console, f"Others   without a compile: {_uncompiled(search)}")
    failed = sum(search.failed.values())
    same = f"{search.duplicates:,} with the same program as another one" if search.duplicates else ""
    bad = f"{failed:,} invalid{_reasons(search.failed)}" if failed else ""
    if same or bad:
        _fold(console, f"Of them  {', '.join(filter(None, (same, bad)))}")
    shown = [problem.ranking[place] for problem in report.problems for place in problem.short_list]
    if any(one.alike or one.variants for one in shown):
        _fold(
            console,
            "Alike    further configurations of a tile with the same program or a time that is not distinguished",
        )
    if search.example and not any(problem.ranking for problem in report.problems):
        _fold(console, f"Example  {search.example}")
    for said in dict.fromkeys(said for problem in report.problems for said in problem.assumptions):
        _fold(console, f"Assumed  {said}")
    for note in space.notes:
        _fold(console, f"Note     {note}")
    if search.not_kept:
        _fold(console, f"Note     {search.journal or 'the journal'} ends early: {search.not_kept}")
    elif search.ended != "complete":
        _fold(console, f"Kept in  {search.journal}: the same command continues from there")


def _uncompiled(search: "SearchFacts") -> str:
    """Return why configurations were rated without a compile, with the number for each reason."""
    # ``search.inert`` omits knobs that changed no time on the first tile but changed one on another tile.
    knobs = f"changed only {', '.join(search.inert)}, which" if search.inert else "changed only knobs that"
    reasons = (
        (search.resumed, "known before"),
        (search.derived, f"{knobs} did not change a time"),
        (search.shared, "same program as a compiled one"),
        (search.refused, "rejected by the kernel"),
    )
    return "; ".join(f"{count:,} {why}" for count, why in reasons if count)


def _tiles(search: "SearchFacts") -> str:
    """Return the number of explored tiles: ``24 of 1,180 tiles``, ``all 12 tiles``."""
    if search.tiles_seen < search.tiles:
        return f"{search.tiles_seen:,} of {search.tiles:,} tiles"
    return "the only tile" if search.tiles == 1 else f"all {search.tiles:,} tiles"


def _reasons(reasons: Mapping[str, int]) -> str:
    shown = [f"{count:,} {why}" for why, count in reasons.items() if count][:_REASONS]
    more = len([count for count in reasons.values() if count]) - len(shown)
    if not shown:
        return ""
    return f" ({'; '.join(shown)}{f'; {more} more reasons' if more > 0 else ''})"


def _fold(console: "Console", text: str, indent: int = 2) -> None:
    """Print a wrapped paragraph with indented continuation lines.

    If the paragraph begins with a label such as ``Search``, they are aligned with the text after the label.
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else console.width
    if text[:9].rstrip() in {"Space", "Search", "Judged", "Of them", "Alike", "Note", "Kept in", "Assumed", "Example"}:
        indent = 9
    lines = textwrap.wrap(
        text, max(40, width - 1), subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False
    )
    for line in lines:
        console.print(line, style="dim", markup=False, soft_wrap=True)
