"""``kprof tune``: rank configurations without a GPU."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._compile_options import NoRunOption
from kprof.cli._completion import architectures, cases, targets
from kprof.cli._format_options import format_options
from kprof.cli._plug_ins import tell_broken
from kprof.cli._programs import one_target
from kprof.cli.common import ConfigOption, NoColorOption, QuietOption, SchedulerOption, ValueOption
from kprof.inputs.assignments import assignments
from kprof.inputs.supplied_values import supplied_values
from kprof.output.headline import tell_first, tell_last
from kprof.output.writing import log
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.api.tune import Tuned

HELP = "Rank a kernel's configurations by predicted time, without a GPU."
EXIT_INTERRUPTED = 130

_OPTION = typer.Option
ShapesOption = Annotated[
    list[str],
    _OPTION("--shape", "-s", help="One problem: M=4096,N=4096,K=4096. Again for another problem.", metavar="K=V,..."),
]
CasesOption = Annotated[
    list[str],
    _OPTION(
        "--case", help="One of the kernel's named problems. May be given again.", metavar="NAME", autocompletion=cases
    ),
]
ShapeFileOption = Annotated[
    str | None,
    _OPTION("--shapes", help="Problems from a YAML, JSON or TOML file: - {M: 4096, N: 4096, K: 4096}", metavar="FILE"),
]
ArchOption = Annotated[
    str,
    _OPTION(
        "--arch", "-a", help="Architecture or product: gfx942 or MI300X.", metavar="ARCH", autocompletion=architectures
    ),
]
SpaceOption = Annotated[
    str | None,
    _OPTION("--space", help="Knobs with values (TOML, YAML, JSON) instead of the kernel's own.", metavar="FILE"),
]
BudgetOption = Annotated[
    float, _OPTION("--budget", help="Seconds after which no compile is begun; 0: no limit.", min=0, metavar="SECONDS")
]
JobsOption = Annotated[int, _OPTION("--jobs", "-j", help="Worker processes; 0 means one a core.", min=0, metavar="N")]
OutputOption = Annotated[
    str | None,
    _OPTION("--output", "-o", help="Folder for the result, the search's journal and --format.", metavar="DIR"),
]
TopOption = Annotated[int, _OPTION("--top", help="Length of the short list.", min=1, max=1000, metavar="N")]
ResumeOption = Annotated[bool, _OPTION("--resume/--fresh", help="Go on from an earlier search, or forget it.")]
FormatOption = Annotated[
    str,
    _OPTION("--format", help="Also write: triton, aiter, vllm, sglang, tune_gemm, dispatch.", metavar="NAME,..."),
]
VerifyOption = Annotated[bool, _OPTION("--verify", help="Measure the short list on this machine's GPU.")]
MeasuredOption = Annotated[
    str | None,
    _OPTION("--measured", help="CSV of measured times (knobs, sizes, time_us) that correct the model.", metavar="FILE"),
]
SignatureOption = Annotated[
    str | None,
    _OPTION("--signature", help="Argument types, without a KERNEL: '*fp16,i32'.", metavar="TYPES"),
]
GridOption = Annotated[
    str,
    _OPTION("--grid", help="Its workgroups: 'cdiv(M,BLOCK_M)*cdiv(N,BLOCK_N)'; more axes after a ;", metavar="EXPR"),
]
ConstexprOption = Annotated[
    list[str], _OPTION("--constexpr", help="Its other compile-time arguments: ACC=true.", metavar="K=V,...")
]
KeyOption = Annotated[
    list[str],
    _OPTION("--key", help="A format's key and the knob or value that it is: GROUP_SIZE_M=1.", metavar="K=V,..."),
]
DeviceOption = Annotated[
    str, _OPTION("--device-name", help="The device in file names, where the product's is another.", metavar="NAME")
]


@format_options("tune")
def command(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="KERNEL",
            help="A bundled kernel, a file with a KERNEL, FILE.py::FUNCTION [-- ARGS] or CAPTURE::KERNEL.",
            autocompletion=targets,
        ),
    ],
    shape: ShapesOption = [],
    case: CasesOption = [],
    shapes: ShapeFileOption = None,
    arch: ArchOption = "",
    config: ConfigOption = [],
    space: SpaceOption = None,
    budget: BudgetOption = 300.0,
    top: TopOption = 8,
    jobs: JobsOption = 0,
    output: OutputOption = None,
    format_: FormatOption = "",
    verify: VerifyOption = False,
    measured: MeasuredOption = None,
    resume: ResumeOption = True,
    scheduler: SchedulerOption = None,
    signature: SignatureOption = None,
    grid: GridOption = "",
    constexpr: ConstexprOption = [],
    value: ValueOption = [],
    key: KeyOption = [],
    device_name: DeviceOption = "",
    no_run: NoRunOption = False,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Rank a kernel's configurations by predicted time, without a GPU.

    Every configuration is compiled; a model predicts its time from the program and the launch. Ctrl-C shows what is
    known so far; the same command goes on from there.

    Of a capture's kernel, or of a launch of the program before --, tiles are tried by running the program up to the
    launch, which it then makes with other values; the answer is what to write where the configuration came from.

    Exit codes: 0 a ranking for every problem, 2 cannot tell, 130 stopped by Ctrl-C.

    Example:  kprof tune gemm --shape M=4096,N=4096,K=4096 --arch MI300X
    """
    from kprof.api.tune import tune
    from kprof.reporters.tune_progress import Reporter

    kernel, program = one_target(targets)
    with Reporter(quiet=quiet) as reporter:
        found = tune(
            kernel,
            shape=[assignments([item], "--shape") for item in shape],
            case=case,
            shape_file=shapes,
            arch=arch,
            config=assignments(config, "--config"),
            space=space,
            budget=budget,
            top=top,
            jobs=jobs,
            output=output,
            formats=format_,
            verify=verify,
            measured=measured,
            resume=resume,
            scheduler=scheduler,
            signature=signature,
            grid=grid,
            constexprs=assignments(constexpr, "--constexpr"),
            values=supplied_values(value),
            keys=assignments(key, "--key"),
            device_name=device_name,
            run=not no_run,
            program=program,
            progress=reporter.show,
            tell=reporter.tell,
        )
    raise typer.Exit(tell_broken(_show(found, outputs, quiet=quiet, no_color=no_color)))


def _show(found: "Tuned", outputs: Outputs, *, quiet: bool, no_color: bool) -> int:
    # First what the search was for: a full disk must not take it away.
    if not (outputs.to_stdout or quiet):
        from kprof.reporters.tune_text import show

        tell_first(found.summary)
        show(found.document, no_color=no_color)
    outputs.write(found.document, lambda: None)
    for note in found.write():
        log(note)
    if found.answer is not None and not outputs.to_stdout:
        from kprof.reporters.recorded_text import answer_text

        print(answer_text(found.answer))
    if not outputs.to_stdout:
        tell_last(found.summary, alone=quiet)
    return EXIT_INTERRUPTED if found.interrupted else 0 if found.ok else 2
