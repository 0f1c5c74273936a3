"""Options of every command that compiles or reads a target."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Annotated, Any

import typer

from kprof.cli._completion import cases, targets
from kprof.cli._option_groups import Command, option, option_group
from kprof.cli.common import ArchOption, ConfigOption, ShapeOption, ValueOption
from kprof.errors import KprofError
from kprof.inputs.assignments import assignments
from kprof.inputs.supplied_values import supplied_values

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
PassesOption = Annotated[bool, typer.Option("--passes", help="Also show what each compiler pass changed.")]


KernelOption = Annotated[
    str | None, typer.Option("--kernel", help="Only this kernel, of a target with several.", metavar="NAME")
]
NoRunOption = Annotated[
    bool, typer.Option("--no-run", help="Of a capture, do not run its program again: compiler options only.")
]

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
MEASURED = ("counters", "trace", "thread_trace")
_OPTIONS = [
    option("arch", ArchOption, ""),
    option("config", ConfigOption, []),
    option("shape", ShapeOption, []),
    option("case", CaseOption, None),
    option("all_configs", AllConfigsOption, False),
    option("signature", SignatureOption, None),
    option("constexpr", ConstexprOption, []),
    option("grid", GridOption, None),
    option("env", EnvOption, []),
    option("value", ValueOption, []),
    option("passes", PassesOption, False),
    option("counters", CountersOption, []),
    option("trace", TraceOption, []),
    option("thread_trace", ThreadTraceOption, None),
]


def compile_options(*, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Give a command the options that say how its target is compiled and what was measured of it.

    They stand in ``--help`` where the command has its parameter ``compile_with``, which gets them as the keyword
    arguments of :func:`kprof.analyze`.

    Args:
        without: those that the command does not have.
    """
    options = [each for each in _OPTIONS if each.name not in without]
    return option_group("compile_with", options, _keywords)


def _keywords(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _parsed(name, value) for name, value in given.items()}


def _parsed(name: str, value: Any) -> Any:
    if name in {"config", "shape", "constexpr", "env"}:
        return assignments(value, f"--{name}")
    if name == "value":
        return supplied_values(value)
    return grid_of(value) if name == "grid" else value


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
