"""What the trace commands share: options, and how an answer is shown."""

from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._option_groups import option, option_group
from kprof.output.headline import tell_first, tell_last
from kprof.output.writing import log

if TYPE_CHECKING:
    from kprof.api.trace.answer import TraceAnswer
    from kprof.reporters.outputs import Outputs

_SHOWN = 4

repair_options = option_group(
    "repairs",
    [
        option(
            "exclude_warm_up",
            Annotated[
                bool,
                typer.Option(
                    "--exclude-warm-up",
                    help="Leave out what was launched before the recording began; it counts otherwise.",
                ),
            ],
            False,
        ),
        option(
            "cap_durations",
            Annotated[
                bool, typer.Option("--cap-durations", help="Cut impossible durations at their stream's next start.")
            ],
            False,
        ),
    ],
    lambda given: tuple(name.replace("_", "-") for name, value in given.items() if value),
)
"""Give a command the options that repair a recording."""


class Levels(str, Enum):
    """What the tree is made of."""

    modules = "modules"
    operators = "operators"
    both = "both"


PathsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH",
        help="Traces of PyTorch, rocprofv3, rocpd or Proton, folders of them, or what kprof ingest trace wrote.",
    ),
]
CategoriesOption = Annotated[
    str | None, typer.Option("--categories", help="Own category rules (TOML), read before the shipped ones.")
]
SchedulerOption = Annotated[
    str | None, typer.Option("--scheduler", help="Read the files on a Dask cluster.", metavar="tcp://HOST:PORT")
]
LimitOption = Annotated[int, typer.Option("--top", "-n", "--limit", help="Rows to show; 0 shows all.", min=0)]
PictureOption = Annotated[
    str | None, typer.Option("--picture", help="Draw it: .svg, or .png where CairoSVG is installed.", metavar="PATH")
]


def answer(
    found: "TraceAnswer",
    lines: Callable[[], Iterable[str]],
    outputs: "Outputs",
    *,
    quiet: bool,
    others: Iterable[str] = (),
    notes: Iterable[str] = (),
) -> None:
    """Show an answer, what was met while reading, and the verdict; write the document.

    Args:
        found: the answer.
        lines: what people see of it.
        outputs: where the document goes; standard output it then has alone.
        quiet: only the verdict.
        others: files that are no traces.
        notes: what else to print.
    """
    _tell_left_out(found, list(others))

    def text() -> None:
        if not quiet:
            tell_first(found.summary)
            print("\n".join(lines()))

    outputs.write(found.document, text)
    for issue in sorted(found.issues, key=lambda one: -one.lost):
        missing = f" - {issue.lost:,} event{'s' if issue.lost > 1 else ''} missing" if issue.lost else ""
        log(f"remark: {issue}{missing}")
    for note in notes:
        log(f"remark: {note}")
    if not outputs.to_stdout:
        tell_last(found.summary, alone=quiet)


def _tell_left_out(found: "TraceAnswer", others: list[str]) -> None:
    for one in found.left_out:
        log(f"kprof: left out: {one.path}: {one.reason}")
    if others:
        names = ", ".join(Path(path).name for path in others[:_SHOWN])
        more = f" and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
        files = "1 file that is" if len(others) == 1 else f"{len(others):,} files that are"
        log(f"kprof: left out: {files} no trace by name: {names}{more}")
