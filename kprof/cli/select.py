"""``kprof select``: which implementation and configuration to use for a shape."""

from typing import Annotated

import typer

from kprof.cli.common import JsonOption, QuietOption, ShapeOption
from kprof.inputs.assignments import assignments
from kprof.output.writing import write_document

HELP = "Say which implementation and configuration to use for a shape."


def command(
    kernel: Annotated[str, typer.Argument(metavar="KERNEL", help="A bundled kernel, or a file with a KERNEL.")],
    shape: ShapeOption = [],
    arch: Annotated[str, typer.Option("--arch", "-a", help="Architecture or product: gfx942 or MI300X.")] = "gfx942",
    table: Annotated[
        str | None,
        typer.Option("--table", help="Dispatch table; by default $KPROF_DISPATCH_TABLE, if set.", metavar="FILE"),
    ] = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Say which implementation and configuration to use for a shape, from a table that kprof bench or kprof tune wrote.

    Parameters that are not given are those of the kernel's default case. Without a table, or without an entry near
    enough, the kernels' own defaults decide, and it says so.

    Example:  kprof select mlstm_chunkwise --shape S=4096,DQK=64,DV=64 --arch MI300X
    """
    from kprof.api.select import select

    found = select(kernel, assignments(shape, "--shape"), arch, table)
    if json is not None:
        import msgspec

        write_document(json, "kprof.selection/1", msgspec.to_builtins(found))
        if json == "-":
            return
    if not quiet:
        print(f"shape           {_words(found.shape)}")
        print(f"implementation  {found.implementation}")
        print(f"configuration   {_words(found.config) or '-'}")
        if found.ms is not None:
            where = f" on {found.device}" if found.basis == "measured" else f" for {found.device or found.arch}"
            print(f"{found.basis:<15} {found.ms:.4f} ms{where}")
        print(f"rule            {found.rule}: {found.reason}")
    print(f"select {found.kernel} on {found.arch}: {found.implementation} ({found.rule})")


def _words(values: dict[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())
