"""What the commands share: option types, values from text, output files, the terminal."""

import contextlib
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.errors import KprofError

if TYPE_CHECKING:
    from rich.console import Console

ArchOption = Annotated[
    str,
    typer.Option(
        "--arch",
        "-a",
        help="Architectures or products, comma separated: gfx942,gfx950 or MI300X.",
        metavar="ARCH[,ARCH]",
    ),
]
ConfigOption = Annotated[
    list[str],
    typer.Option("--config", "-c", help="Knobs: BLOCK_M=64,num_warps=4. May be given again.", metavar="K=V,..."),
]
ShapeOption = Annotated[
    list[str], typer.Option("--shape", "-s", help="Problem parameters: M=4096,dtype=fp16.", metavar="K=V,...")
]
JsonOption = Annotated[
    str | None,
    typer.Option("--json", help="Write the whole result as JSON; - is standard output.", metavar="PATH"),
]


def _no_page(path: str | None) -> None:
    """Say where pages come from: ``--html`` is what other tools call it."""
    if path is not None:
        raise KprofError(
            "--html is no option of this command",
            hint=f"kprof report TARGET -o {path} writes a page; TARGET may be a file that --json wrote",
        )


HtmlOption = Annotated[str | None, typer.Option("--html", hidden=True, callback=_no_page, metavar="PATH")]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", help="Worker processes; 0 means one a core.", min=0)]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Only the verdict.")]
NoColorOption = Annotated[bool, typer.Option("--no-color", help="No colours, whatever the terminal can do.")]
VerboseOption = Annotated[int, typer.Option("--verbose", "-v", count=True, help="More detail; -vv for all of it.")]


def value_of(text: str) -> Any:
    """A knob's value from text: int (``0x`` too), finite float, true/false/none, else the text itself."""
    lowered = text.strip().lower()
    if lowered in {"true", "false"}:
        return lowered == "true"
    if lowered == "none":
        return None
    for kind in (lambda t: int(t, 0), float):
        try:
            value = kind(text)
        except ValueError:
            continue
        # "nan" and "inf" are no numbers that a knob could have; NaN would not even equal itself.
        return text.strip() if isinstance(value, float) and not math.isfinite(value) else value
    return text.strip()


def assignments(items: Iterable[str], option: str) -> dict[str, Any]:
    """``["A=1,B=x", "C=2"]`` as a dict.

    Raises:
        KprofError: an item has no ``=`` or no name, or a name is given twice with different values.
    """
    result: dict[str, Any] = {}
    for item in items:
        for part in filter(None, (p.strip() for p in item.split(","))):
            name, equals, text = part.partition("=")
            if not equals or not name.strip():
                raise KprofError(f"{option} takes NAME=VALUE, got {part!r}")
            value = value_of(text)
            if name.strip() in result and result[name.strip()] != value:
                raise KprofError(f"{option} gives {name.strip()} twice, as {result[name.strip()]!r} and {value!r}")
            result[name.strip()] = value
    return result


def listed(text: str) -> list[str]:
    """The parts of a comma-separated option, without empty ones and repetitions, in order."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def write_output(path: str, content: str | bytes) -> None:
    """Write a result to a file, or to standard output for ``-``.

    The file appears whole or not at all.

    Raises:
        KprofError: the path is a directory or cannot be written.
    """
    if path == "-":
        text = content if isinstance(content, str) else content.decode()
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        return
    target = Path(path)
    partial = target.with_name(f".{target.name}.partial")
    try:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
        partial.replace(target)
    except OSError as error:
        # On a read-only file system even a file that is not there cannot be removed.
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise KprofError(f"cannot write the output: {error.strerror}", path=path) from error


def write_document(path: str, schema: str, content: dict[str, Any]) -> None:
    """Write a JSON document that says first what it is: ``{"schema": "kprof.rules/1", ...}``.

    Args:
        path: see :func:`write_output`.
        schema: name and version; the version rises when a key goes or changes its meaning.
        content: the other keys; what JSON cannot hold is written as its text.
    """
    import msgspec

    encoded = msgspec.json.encode({"schema": schema, **content}, enc_hook=str)
    write_output(path, msgspec.json.format(encoded, indent=2) + b"\n")


def terminal(*, no_color: bool = False, stderr: bool = False) -> "Console":
    """A rich console: colours only on a terminal, 110 columns in a pipe so that nothing is squeezed to 80."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    # NO_COLOR and TERM=dumb are honoured by rich itself.
    return Console(
        file=stream,
        no_color=no_color or None,
        highlight=False,
        width=None if stream.isatty() else 110,
        soft_wrap=False,
    )


def log(message: str) -> None:
    """A line for a person on standard error."""
    print(message, file=sys.stderr)
