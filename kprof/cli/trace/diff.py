"""``kprof trace diff``: two traces kernel by kernel."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli.common import JobsOption, JsonOption, QuietOption
from kprof.cli.trace._shared import (
    CategoriesOption,
    LimitOption,
    PictureOption,
    SchedulerOption,
    draw,
    dump,
    kernel_label,
    label,
    milliseconds,
    per_file,
    quiet_with_json,
    tell_issues,
)
from kprof.output.writing import log

if TYPE_CHECKING:
    from kprof_analyzers.profiles.timeline.compare import Comparison, Side
    from kprof_analyzers.profiles.timeline.steps import SteppedKernels

HELP = "Two traces compared, kernel by kernel."


def command(
    before: Annotated[Path, typer.Argument(help="The trace to compare with.")],
    after: Annotated[Path, typer.Argument(help="The trace in question.")],
    fail_over: Annotated[
        float | None, typer.Option("--fail-over", help="Exit 1 when GPU time grew by more than this many percent.")
    ] = None,
    limit: LimitOption = 15,
    categories: CategoriesOption = None,
    picture: PictureOption = None,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """What changed between two runs: before and after, or two batch sizes.

    Where both traces mark steps, the mean step is compared, so that they need not have equally many. With --fail-over a
    trace that is cut off, or that alone marks no steps, gives "cannot tell" and exit code 2.

    Example:  kprof trace diff before.json after.json --fail-over 3
    """
    from kprof_analyzers.profiles.timeline.compare import compare
    from kprof_analyzers.profiles.timeline.pictures.stacked_bars import stacked_bars
    from kprof_analyzers.profiles.timeline.steps import stepped_kernels_step

    old, new = (per_file(stepped_kernels_step, [p], jobs, scheduler, categories=categories) for p in (before, after))
    result = compare(_side(before, old), _side(after, new))
    if not quiet_with_json(json, quiet):
        print("\n".join(_lines(result, limit)))
    for one in (*old, *new):
        tell_issues(one.issues)
    rows = [
        (label(result.before), {c: was for c, (was, _) in result.categories.items()}),
        (label(result.after), {c: now for c, (_, now) in result.categories.items()}),
    ]
    draw(picture, lambda: stacked_bars(rows, "GPU time by category"))
    if json:
        dump(json, _document(result))
    if json != "-":
        print(_verdict(result))
    if fail_over is None:
        return
    if result.cannot_tell:
        log(f"kprof: cannot tell whether it is slower: {result.cannot_tell}")
        raise typer.Exit(2)
    if result.before_ns and 100 * (result.after_ns / result.before_ns - 1) > fail_over:
        raise typer.Exit(1)


def _side(path: Path, found: "list[SteppedKernels]") -> "Side":
    """One trace, or the traces of a folder taken together."""
    from kprof_analyzers.profiles.timeline.compare import Side

    cut = any(issue.kind == "cut-off" for one in found for issue in one.issues)
    # Of several files each must mark its steps.
    steps = sum(one.steps for one in found) if all(one.steps for one in found) else 0
    return Side(str(path), [kernel for one in found for kernel in one.kernels], steps, cut)


def _lines(result: "Comparison", limit: int) -> list[str]:
    from kprof.output.tables import rows_table

    by_category = [
        (name, milliseconds(was), milliseconds(now), _signed(now - was), _ratio(now, was))
        for name, (was, now) in result.categories.items()
    ]
    by_kernel = [
        (
            _signed(k.delta_ns),
            "new" if k.before_ns is None else milliseconds(k.before_ns),
            "gone" if k.after_ns is None else milliseconds(k.after_ns),
            _calls(k.after_count) if k.before_count == k.after_count else _calls(k.before_count, k.after_count),
            "-" if k.mean_ratio is None else f"{k.mean_ratio:.2f}x",
            kernel_label(k.name),
        )
        for k in (result.kernels[:limit] if limit else result.kernels)
    ]
    lines: list[str] = []
    if by_category:
        lines += rows_table(("category", "before ms", "after ms", "change ms", "ratio"), by_category).splitlines()
    if by_kernel:
        headings = ("change ms", "before ms", "after ms", "calls", "mean", "kernel")
        lines += ["", *rows_table(headings, by_kernel, wide=5).splitlines()]
    return [*lines, ""]


def _calls(*counts: float) -> str:
    return " -> ".join(f"{count:,}" if count == int(count) else f"{count:,.1f}" for count in counts)


def _signed(ns: float) -> str:
    return ("+" if ns > 0 else "-" if ns < 0 else "") + milliseconds(abs(ns))


def _ratio(now: int, was: int) -> str:
    return f"{now / was:.2f}x" if was else "new"


def _document(result: "Comparison") -> dict[str, Any]:
    return {
        "schema": "kprof.trace.diff/1",
        "before": result.before,
        "after": result.after,
        "before_ns": result.before_ns,
        "after_ns": result.after_ns,
        "steps": result.steps,
        "cannot_tell": result.cannot_tell,
        "categories": {c: {"before_ns": was, "after_ns": now} for c, (was, now) in result.categories.items()},
        "kernels": [
            {
                "name": k.name,
                "category": k.category,
                "before_ns": k.before_ns,
                "after_ns": k.after_ns,
                "before_count": k.before_count,
                "after_count": k.after_count,
                "delta_ns": k.delta_ns,
                "mean_ratio": k.mean_ratio,
            }
            for k in result.kernels
        ],
    }


def _verdict(result: "Comparison") -> str:
    change = result.after_ns - result.before_ns
    if not result.before_ns:
        return "no kernels in the first trace"
    grown = 100 * change / result.before_ns
    first = result.kernels[0] if result.kernels else None
    most = (
        f"; most by {kernel_label(first.name, 50)} ({_signed(first.delta_ns)} ms)" if first and first.delta_ns else ""
    )
    of_a_step = f" a step, of {result.steps[0]:,} and {result.steps[1]:,}" if all(result.steps) else ""
    told = f"; cannot be compared: {result.cannot_tell}" if result.cannot_tell else ""
    times = f"{milliseconds(result.before_ns)} -> {milliseconds(result.after_ns)} ms"
    return f"kernel time {times}{of_a_step} ({grown:+.1f} %){told}{most}"
