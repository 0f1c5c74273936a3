"""Options that several commands have."""

from typing import Annotated

import typer

from kprof.cli._completion import architectures

ArchOption = Annotated[
    str,
    typer.Option(
        "--arch",
        "-a",
        help="Architectures or products, comma separated: gfx942,gfx950 or MI300X.",
        metavar="ARCH[,ARCH]",
        autocompletion=architectures,
    ),
]
ConfigOption = Annotated[
    list[str],
    typer.Option("--config", "-c", help="Knobs: BLOCK_M=64,num_warps=4. May be given again.", metavar="K=V,..."),
]
ShapeOption = Annotated[
    list[str], typer.Option("--shape", "-s", help="Problem parameters: M=4096,dtype=fp16.", metavar="K=V,...")
]
ValueOption = Annotated[
    list[str],
    typer.Option(
        "--value",
        help="What the launch does not say: an argument's value, or a tensor's contents as one number or FILE.json.",
        metavar="NAME=N|FILE",
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option("--scheduler", help="Dask scheduler whose workers compile: tcp://host:8786.", metavar="URL"),
]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", help="Worker processes; 0 means one a core.", min=0)]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Only the verdict.")]
NoColorOption = Annotated[bool, typer.Option("--no-color", help="No colours, whatever the terminal can do.")]
VerboseOption = Annotated[int, typer.Option("--verbose", "-v", count=True, help="More detail; -vv for all of it.")]
