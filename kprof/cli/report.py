"""``kprof report``: one page of everything that is known of a kernel."""

from pathlib import Path
from typing import Annotated

import typer

from kprof.cli._compile_options import (
    AllConfigsOption,
    CaseOption,
    ConstexprOption,
    EnvOption,
    GridOption,
    PassesOption,
    SignatureOption,
    compile_options,
)
from kprof.cli.common import ArchOption, ConfigOption, JobsOption, QuietOption, ShapeOption
from kprof.errors import KprofError
from kprof.output.writing import write_output

HELP = "Write one HTML page of everything that is known of a kernel."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


def command(
    targets: Annotated[
        list[str],
        typer.Argument(metavar="TARGET", help="As for kprof analyze kernel, or a report that it wrote with --json."),
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="The page; - is standard output.", metavar="FILE.html")],
    arch: ArchOption = "",
    config: ConfigOption = [],
    shape: ShapeOption = [],
    case: CaseOption = None,
    all_configs: AllConfigsOption = False,
    signature: SignatureOption = None,
    constexpr: ConstexprOption = [],
    grid: GridOption = None,
    env: EnvOption = [],
    passes: PassesOption = False,
    kernel: Annotated[
        str | None, typer.Option("--kernel", help="Only this kernel, of a target with several.", metavar="NAME")
    ] = None,
    source: Annotated[
        list[Path],
        typer.Option(
            "--source", help="A folder with the sources of what is compiled already; the current one always counts."
        ),
    ] = [],
    jobs: JobsOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Write one HTML page of everything that is known of a kernel. It needs nothing but a browser.

    kprof report flash_attention --arch MI300X -o page.html

    kprof report ~/.triton/cache --source ~/project -o page.html
    """
    from kprof.api.report_entries import Request, entries
    from kprof.reporters.html import HtmlReporter
    from kprof.reporters.rule_list import all_rules
    from kprof_analyzers.pipeline import report

    options = compile_options(
        arch=arch,
        config=config,
        shape=shape,
        case=case,
        all_configs=all_configs,
        signature=signature,
        constexpr=constexpr,
        grid=grid,
        env=env,
        passes=passes,
        jobs=jobs,
    )
    for folder in source:
        if not folder.is_dir():
            raise KprofError(
                "no such folder", path=str(folder), hint="--source takes the folder that the sources are in."
            )
    found, problems = entries(targets, Request(options, kernel, (Path.cwd(), *source)))
    document = report([entry.kernel for entry in found], failed=problems)
    details = {position: entry.details for position, entry in enumerate(found)}
    if found:
        page = HtmlReporter(details, all_rules()).render(document)
        write_output(output, page)
        if output != "-" and not quiet:
            print(f"{output}: {len(page.encode()) / 1000:,.0f} kB")
    if output != "-":
        print(document.verdict.summary)
    raise typer.Exit(_EXIT[document.verdict.status])
