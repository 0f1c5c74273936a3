"""``kprof trace diff``: two traces kernel by kernel."""

from pathlib import Path
from typing import Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import JobsOption, QuietOption
from kprof.cli.trace._shared import (
    CategoriesOption,
    Levels,
    LimitOption,
    PictureOption,
    SchedulerOption,
    answer,
    repair_options,
)
from kprof.output.writing import log
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "Two traces compared, kernel by kernel; or a measured one with a predicted one."


@format_options("trace")
@repair_options
def command(
    before: Annotated[Path, typer.Argument(help="The trace to compare with.")],
    after: Annotated[Path, typer.Argument(help="The trace in question.")],
    fail_over: Annotated[
        float | None, typer.Option("--fail-over", help="Exit 1 when GPU time grew by more than this many percent.")
    ] = None,
    tree: Annotated[
        Levels | None, typer.Option("--tree", help="Also where in the model: both trees, aligned by their names.")
    ] = None,
    limit: LimitOption = 15,
    categories: CategoriesOption = None,
    picture: PictureOption = None,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    repairs: tuple[str, ...] = (),
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """What changed between two runs: before and after, or two batch sizes.

    Where both traces mark steps, the mean step is compared, so that they need not have equally many. With --fail-over a
    trace that is cut off, or that alone marks no steps, gives "cannot tell" and exit code 2.

    A measured trace and one that kprof profile -o wrote are compared operator by operator: a call's mean time in both,
    and how far the prediction is off for all calls that were measured.

    Example:  kprof trace diff before.json after.json --tree modules --fail-over 3
    """
    from kprof.api.trace.diff import trace_diff
    from kprof.reporters import trace_prediction_text, trace_tree_diff_text
    from kprof.reporters.trace_diff_text import lines

    found = trace_diff(
        before,
        after,
        categories=categories,
        tree=None if tree is None else tree.value,
        jobs=jobs,
        scheduler=scheduler,
        repairs=repairs,
    )
    if picture is not None:
        found.draw(picture)
        log(f"drawn: {picture}")

    def shown() -> list[str]:
        if found.prediction is not None:
            text = trace_prediction_text.lines(found.prediction, limit)
        else:
            text = lines(found.comparison, limit)
        return text if found.tree is None else [*text, *trace_tree_diff_text.lines(found.tree, limit)]

    answer(found, shown, outputs, quiet=quiet)
    if fail_over is None:
        return
    if found.comparison.cannot_tell:
        log(f"kprof: cannot tell whether it is slower: {found.comparison.cannot_tell}")
        raise typer.Exit(2)
    if (found.grown_percent or 0.0) > fail_over:
        raise typer.Exit(1)
