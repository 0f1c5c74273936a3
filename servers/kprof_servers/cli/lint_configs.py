"""``kprof lint-configs``: tuned-configuration files of AITER, vLLM and SGLang, and lists of ``triton.Config``."""

from typing import Annotated

import typer

from kprof.cli._compile_options import CaseOption
from kprof.cli._completion import architectures, rules
from kprof.cli._format_options import format_options
from kprof.cli._plug_ins import tell_broken
from kprof.cli.common import JobsOption, NoColorOption, QuietOption, ShapeOption, VerboseOption
from kprof.errors import KprofError
from kprof.inputs.assignments import assignments
from kprof.output.colour import coloured
from kprof.output.headline import screen_width
from kprof.output.writing import log, print_styled
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "Check tuned-configuration files (AITER, vLLM, SGLang, triton.Config)."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}

PathsArgument = Annotated[
    list[str], typer.Argument(metavar="PATH", help="Files, or folders that are searched for such files.")
]
ArchOption = Annotated[
    str | None,
    typer.Option(
        "--arch",
        "-a",
        help="The GPU of files that do not say for which one they are.",
        metavar="ARCH",
        autocompletion=architectures,
    ),
]
CompileOption = Annotated[
    bool, typer.Option("--compile", help="Compile the kernel for each bucket, where the kernel is known.")
]
KernelOption = Annotated[
    str | None,
    typer.Option("--kernel", help="The kernel to compile: a bundled one or FILE.py::FUNCTION.", metavar="TARGET"),
]
RenameOption = Annotated[
    list[str],
    typer.Option("--map", help="Knobs under the kernel's names: BLOCK_SIZE_M=BLOCK_M. Empty: left out.", metavar="K=V"),
]
SignatureOption = Annotated[str | None, typer.Option("--signature", help="Argument types of a kernel without cases.")]
ConstexprOption = Annotated[
    list[str], typer.Option("--constexpr", help="Compile-time arguments that are no knobs.", metavar="K=V,...")
]
IgnoreOption = Annotated[
    str,
    typer.Option(
        "--ignore", help="Rules to leave out, by identifier or name.", metavar="RULE[,RULE]", autocompletion=rules
    ),
]
FailOnOption = Annotated[
    str, typer.Option("--fail-on", help="Exit with 1 on a finding this bad: note, warning, error or never.")
]


@format_options("lint")
def command(
    paths: PathsArgument,
    arch: ArchOption = None,
    compile_: CompileOption = False,
    kernel: KernelOption = None,
    rename: RenameOption = [],
    case: CaseOption = None,
    shape: ShapeOption = [],
    signature: SignatureOption = None,
    constexpr: ConstexprOption = [],
    ignore: IgnoreOption = "",
    fail_on: FailOnOption = "warning",
    outputs: Outputs = NO_OUTPUTS,
    jobs: JobsOption = 0,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Check tuned-configuration files: their text, their keys, what the GPU has, which buckets are ever used.

    Files are only read, Python files too. With --compile each bucket is compiled as well; no GPU is used.

    Exit codes: 0 fine, 1 a finding at or above --fail-on, 2 cannot tell.

    Example:  kprof lint-configs aiter/ops/triton/configs --compile
    """
    from kprof_servers.lint_configs import lint_configs

    found = lint_configs(
        *paths,
        arch=arch,
        compile_buckets=compile_,
        kernel=kernel,
        rename={name: to or None for name, to in _renamed(rename).items()},
        case=case,
        shape=assignments(shape, "--shape"),
        signature=signature,
        constexprs=assignments(constexpr, "--constexpr"),
        ignore=ignore,
        fail_on=fail_on,
        jobs=jobs,
    )
    for failure in found.failures:
        log(f"kprof: {failure}")

    def text() -> None:
        from kprof_servers.lint_text import LintTextReporter

        if quiet:
            print(found.summary)
            return
        reporter = LintTextReporter(colour=coloured(no_color=no_color), verbose=verbose, width=screen_width())
        print_styled(reporter.render(found.document))

    outputs.write(found.document, text)
    raise typer.Exit(tell_broken(_EXIT[found.document.verdict.status]))


def _renamed(items: list[str]) -> dict[str, str]:
    """``--map``: the configuration's knob to the kernel's; to nothing for one that is left out.

    Raises:
        KprofError: an item has no ``=``.
    """
    result = {}
    for part in (piece.strip() for item in items for piece in item.split(",")):
        name, equals, to = part.partition("=")
        if not equals or not name.strip():
            raise KprofError(f"--map takes KNOB=NAME, got {part!r}")
        result[name.strip()] = to.strip()
    return result
