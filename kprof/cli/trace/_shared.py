"""What the trace commands share: options, the per-file step with its failures, issues, pictures."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import typer

from kprof.errors import KprofError
from kprof.output.headline import tell_first, tell_last
from kprof.output.sink import one_line
from kprof.output.writing import log, write_output

if TYPE_CHECKING:
    from kprof_analyzers.profiles.timeline.files import LeftOut

R = TypeVar("R")


class HasIssues(Protocol):
    """What was found in one trace."""

    @property
    def issues(self) -> Sequence[Any]:
        """What was met while reading it."""


Answer = TypeVar("Answer", bound=HasIssues)
_SHOWN = 4
_TENSILE = re.compile(r"^(Cijk_[A-Za-z]+_[A-Za-z]+_[A-Z0-9]+)_\w*?_(?=MT\d+x)(.*)$")

PathsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH",
        help="Traces (.json, .json.gz, .hatchet), folders of them, or what kprof ingest trace wrote.",
    ),
]
CategoriesOption = Annotated[
    str | None, typer.Option("--categories", help="Own category rules (TOML), read before the shipped ones.")
]
SchedulerOption = Annotated[
    str | None, typer.Option("--scheduler", help="Do the per-file step on Dask.", metavar="tcp://HOST:PORT")
]
LimitOption = Annotated[int, typer.Option("--top", "-n", "--limit", help="Rows to show; 0 shows all.", min=0)]
PictureOption = Annotated[
    str | None, typer.Option("--picture", help="Draw it: .svg, or .png where CairoSVG is installed.", metavar="PATH")
]


def per_file(
    function: Callable[..., R],
    paths: Sequence[Path],
    jobs: int,
    scheduler: str | None,
    *,
    left_out: "list[LeftOut] | None" = None,
    **options: Any,
) -> list[R]:
    """The step's results. A file in a folder that cannot be read is told on standard error and left out.

    Args:
        function: a step of :mod:`kprof_analyzers.profiles.timeline.steps`.
        paths: files and folders.
        jobs: processes.
        scheduler: a Dask scheduler instead.
        left_out: filled with what was not read; files that are no traces are told too, then.
        options: further arguments of the step.

    Raises:
        KprofError: no file at all could be read, or one that was named, not found in a folder.
    """
    from kprof_analyzers.profiles.timeline.files import Failed, LeftOut, each_file, other_files, trace_files

    files = trace_files(paths)
    results: list[R] = []
    missed: list[LeftOut] = []
    for file, result in zip(files, each_file(function, files, jobs=jobs, scheduler=scheduler, **options), strict=True):
        if isinstance(result, Failed):
            if not file.found:
                raise KprofError(result.message)
            missed.append(LeftOut(file.path, result.message.removeprefix(f"{file.path}: ")))
        else:
            results.append(result)
    for one in missed:
        log(f"kprof: left out: {one.path}: {one.reason}")
    if left_out is not None:
        others = other_files(paths)
        _tell_others(others)
        left_out += [*missed, *(LeftOut(path, "no trace by its name") for path in others)]
    if not results:
        raise KprofError(f"none of {len(files)} files is a readable trace")
    return results


def _tell_others(paths: Sequence[str]) -> None:
    if not paths:
        return
    names = ", ".join(Path(path).name for path in paths[:_SHOWN])
    more = f" and {len(paths) - _SHOWN:,} more" if len(paths) > _SHOWN else ""
    files = "1 file that is" if len(paths) == 1 else f"{len(paths):,} files that are"
    log(f"kprof: left out: {files} no trace by name: {names}{more}")


def tell_issues(issues: Sequence[Any]) -> None:
    """What was met while reading, on standard error; what was lost first."""
    for issue in sorted(issues, key=lambda i: -i.lost):
        log(
            f"remark: {issue}"
            + (f" - {issue.lost:,} event{'s' if issue.lost > 1 else ''} missing" if issue.lost else "")
        )


def draw(picture: str | None, svg: Callable[[], str]) -> None:
    """Write a picture as SVG or PNG, by the name's ending; nothing when no name is given.

    Raises:
        KprofError: PNG without a converter, another ending, or a path that cannot be written.
    """
    if picture is None:
        return
    ending = Path(picture).suffix.lower()
    if ending not in {".svg", ".png"}:
        raise KprofError(f"pictures are written as .svg or .png, got {picture!r}")
    content: str | bytes = svg()
    if ending == ".png":
        from kprof_analyzers.profiles.timeline.pictures.png import png

        content = png(str(content))
    write_output(picture, content)
    log(f"drawn: {picture}")


def dump(path: str, document: dict[str, Any]) -> None:
    """Write a result as JSON; ``-`` is standard output."""
    import msgspec

    write_output(path, msgspec.json.format(msgspec.json.encode(document), indent=2).decode())


def answer(
    found: Sequence[Answer],
    schema: str,
    lines: Callable[[Answer], list[str]],
    verdict: str,
    *,
    json: str | None,
    quiet: bool,
) -> None:
    """Show what was found in each trace, what was met while reading, and the verdict; write the document.

    Args:
        found: a result a trace, each with the ``issues`` of its trace.
        schema: of the document.
        lines: what people see of a result.
        verdict: one line.
        json: where the document goes; ``-`` is standard output, which it then has alone.
        quiet: only the verdict.
    """
    silent = quiet_with_json(json, quiet)
    if not silent:
        tell_first(verdict)
        for one in found:
            print("\n".join(lines(one)))
    for one in found:
        tell_issues(one.issues)
    if json:
        dump(json, {"schema": schema, "traces": found})
    if json != "-":
        tell_last(verdict, alone=silent)


def quiet_with_json(path: str | None, quiet: bool) -> bool:
    """Whether to print nothing but the result: JSON on standard output must stay alone."""
    return quiet or path == "-"


def milliseconds(value: float) -> str:
    """Ns as ms with as many digits as tell something."""
    ms = value / 1e6
    return f"{ms:,.1f}" if ms >= 1000 else f"{ms:,.2f}" if ms >= 10 else f"{ms:,.3f}"


def percent(part: float, whole: float) -> str:
    """A share in percent; ``-`` of nothing."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def label(path: str, length: int = 40) -> str:
    """A file's name without endings, with its folder when it says little alone; long ones lose their middle."""
    name = Path(path).name
    for ending in (".gz", ".json", ".trace", ".pt"):
        name = name.removesuffix(ending)
    short = f"{Path(path).parent.name}/{name}" if len(name) < 16 else name
    half = length // 2
    return short if len(short) <= length else f"{short[:half]}…{short[half + 1 - length :]}"


def kernel_label(name: str, length: int = 0) -> str:
    """A kernel's name from where it begins to tell something: no return type, none of PyTorch's namespaces.

    >>> kernel_label("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8>(float*)", 20)
    'cunn_SoftMaxForward…'
    >>> kernel_label("Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x224x64_MI16x16x1_SN")
    'Cijk_Ailk_Bljk_BBS…MT64x224x64_MI16x16x1_SN'
    """
    text = name.removeprefix("void ")
    for common in ("(anonymous namespace)::", "at::native::"):
        text = text.replace(common, "")
    # Tensile's names are alike up to the macro tile.
    text = _TENSILE.sub(r"\1…\2", text)
    text = one_line(text)
    return text if not length or len(text) <= length else f"{text[: length - 1]}…"
