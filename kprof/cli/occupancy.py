"""``kprof occupancy``: how many wavefronts a SIMD holds, and what to give up for more."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._compile_options import CaseOption, ConstexprOption, SignatureOption
from kprof.cli._completion import targets
from kprof.cli._format_options import format_options
from kprof.cli.common import ArchOption, ConfigOption, NoColorOption, QuietOption, ShapeOption
from kprof.inputs.assignments import assignments
from kprof.output.writing import print_styled
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.api.occupancy import Occupancies

HELP = "Wavefronts per SIMD, what limits them, and what to give up for more."

CANNOT_LAUNCH = 1

CurveOption = Annotated[
    str | None, typer.Option("--curve", help="Draw occupancy over vgpr, lds or num-warps.", metavar="RESOURCE")
]


@format_options("occupancy")
def command(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]",
            help="A bundled kernel, FILE.py::FUNCTION, an .amdgcn or .s file, a .hsaco or .co file. "
            "Numbers given as options replace the target's.",
            autocompletion=targets,
        ),
    ] = None,
    arch: ArchOption = "",
    vgpr: Annotated[int | None, typer.Option("--vgpr", help="VGPRs of a wavefront, per lane.")] = None,
    agpr: Annotated[int | None, typer.Option("--agpr", help="AGPRs of a wavefront, per lane.")] = None,
    sgpr: Annotated[int | None, typer.Option("--sgpr", help="SGPRs of a wavefront, as in .sgpr_count.")] = None,
    lds: Annotated[
        str | None, typer.Option("--lds", help="LDS of a workgroup: bytes, or 32K.", metavar="BYTES")
    ] = None,
    num_warps: Annotated[int | None, typer.Option("--num-warps", help="Wavefronts of a workgroup [4].")] = None,
    wavefront_size: Annotated[int | None, typer.Option("--wavefront-size", help="32 or 64 lanes.")] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="wgp or cu, on RDNA.")] = None,
    method: Annotated[
        str, typer.Option("--method", help="hardware, llvm (what the compiler prints) or guide (AMD's formula).")
    ] = "hardware",
    llvm: Annotated[int | None, typer.Option("--llvm", help="LLVM's major version, for --method llvm.")] = None,
    curve: CurveOption = None,
    config: ConfigOption = [],
    shape: ShapeOption = [],
    case: CaseOption = None,
    signature: SignatureOption = None,
    constexpr: ConstexprOption = [],
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Wavefronts per SIMD from numbers or for a kernel, what limits them, and what to give up for more.

    kprof occupancy --arch gfx942,gfx950 --vgpr 128 --lds 32K --num-warps 4

    Exits with 1 when the kernel cannot be launched at all.
    """
    from kprof.api.occupancy import occupancy

    found = occupancy(
        target,
        arch=arch,
        vgpr=vgpr,
        agpr=agpr,
        sgpr=sgpr,
        lds=lds,
        num_warps=num_warps,
        wavefront_size=wavefront_size,
        mode=mode,
        method=method,
        llvm=llvm,
        curve=curve,
        config=assignments(config, "--config"),
        shape=assignments(shape, "--shape"),
        case=case,
        signature=signature,
        constexprs=assignments(constexpr, "--constexpr"),
    )
    outputs.write(found.document, lambda: _show(found, quiet=quiet, no_color=no_color))
    if not found.ok:
        raise typer.Exit(CANNOT_LAUNCH)


def _show(found: "Occupancies", *, quiet: bool, no_color: bool) -> None:
    from kprof.reporters import occupancy as text

    entries = found.entries()
    style = text.Style(no_color=no_color)
    shown = [] if quiet else text.single(entries[0], style) if len(entries) == 1 else text.table(entries, style)
    print_styled("\n".join([*shown, found.summary, ""]))
