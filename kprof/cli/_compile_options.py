"""Options of every command that compiles or reads a target."""

from typing import Annotated

import typer

from kprof.cli._completion import cases, targets
from kprof.errors import KprofError

TargetsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="TARGET",
        help="A bundled kernel, FILE.py::FUNCTION, an .amdgcn or .s file, a .hsaco or .co file, HIP source, "
        "a Triton cache or -save-temps directory, or what kprof capture wrote.",
        autocompletion=targets,
    ),
]
CaseOption = Annotated[
    str | None, typer.Option("--case", help="One of the kernel's named shapes.", autocompletion=cases)
]
AllConfigsOption = Annotated[bool, typer.Option("--all-configs", help="Each configuration that the kernel lists.")]
SignatureOption = Annotated[
    str | None, typer.Option("--signature", help="Argument types of your own kernel: '*fp16:16,*fp16,i32'.")
]
ConstexprOption = Annotated[
    list[str], typer.Option("--constexpr", help="Compile-time arguments: BLOCK=1024.", metavar="K=V,...")
]
GridOption = Annotated[
    str | None,
    typer.Option("--grid", help="Workgroups of your own kernel's launch: 4096 or 64,32.", metavar="X[,Y[,Z]]"),
]
EnvOption = Annotated[
    list[str], typer.Option("--env", help="Triton's environment switches for this compile.", metavar="K=V,...")
]
CountersOption = Annotated[
    list[str],
    typer.Option("--counters", help="Files or folders of a ROCm profiler with this kernel.", metavar="PATH"),
]
TraceOption = Annotated[
    list[str],
    typer.Option("--trace", help="PyTorch traces, or folders of them, with this kernel.", metavar="PATH"),
]
ThreadTraceOption = Annotated[
    str | None,
    typer.Option("--thread-trace", help="A decoded thread trace (ATT) of this kernel.", metavar="FOLDER"),
]
PassesOption = Annotated[bool, typer.Option("--passes", help="Also tell what each compiler pass changed.")]


def grid_of(text: str | None) -> tuple[int, ...] | None:
    """``64,32`` as numbers of workgroups.

    Raises:
        KprofError: these are not one to three positive numbers.
    """
    if text is None:
        return None
    parts = [part.strip() for part in text.replace(";", ",").split(",")]
    if not 1 <= len(parts) <= 3 or not all(part.isascii() and part.isdecimal() and int(part) > 0 for part in parts):
        raise KprofError(
            f"--grid takes one to three numbers of workgroups, got {text!r}", hint="for example --grid 64,32"
        )
    return tuple(map(int, parts))
