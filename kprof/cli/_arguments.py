"""Arguments that several commands have."""

from typing import Annotated

import typer

from kprof.cli._completion import targets

TargetsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="TARGET",
        help="A bundled kernel, FILE.py::FUNCTION, an .amdgcn or .s file, a .hsaco or .co file, HIP source, "
        "a Triton cache or -save-temps directory, or what kprof capture wrote.",
        autocompletion=targets,
    ),
]
TargetArgument = Annotated[
    str, typer.Argument(metavar="TARGET", help="As for kprof analyze kernel.", autocompletion=targets)
]
KernelArgument = Annotated[
    str, typer.Argument(metavar="KERNEL", help="A bundled kernel, or a file with a KERNEL.", autocompletion=targets)
]
