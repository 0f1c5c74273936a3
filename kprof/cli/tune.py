"""``kprof tune``: rank configurations without a GPU."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli import _tune_request
from kprof.cli.common import (
    ConfigOption,
    JsonOption,
    NoColorOption,
    QuietOption,
    assignments,
    listed,
    log,
    write_output,
)

if TYPE_CHECKING:
    from kprof.tuning.document import TuneReport
    from kprof.tuning.search import Found
    from kprof.tuning.subject import Subject

HELP = "Rank a kernel's configurations by predicted time, without a GPU."
EXIT_INTERRUPTED = 130

_OPTION = typer.Option
ShapesOption = Annotated[
    list[str],
    _OPTION("--shape", "-s", help="One problem: M=4096,N=4096,K=4096. Again for another problem.", metavar="K=V,..."),
]
CasesOption = Annotated[list[str], _OPTION("--case", help="One of the kernel's named problems. May be given again.")]
ShapeFileOption = Annotated[
    str | None,
    _OPTION("--shapes", help="Problems from a YAML, JSON or TOML file: - {M: 4096, N: 4096, K: 4096}", metavar="FILE"),
]
ArchOption = Annotated[str, _OPTION("--arch", "-a", help="Architecture or product: gfx942 or MI300X.", metavar="ARCH")]
SpaceOption = Annotated[
    str | None,
    _OPTION("--space", help="Knobs with values (TOML, YAML, JSON) instead of the kernel's own.", metavar="FILE"),
]
BudgetOption = Annotated[
    float, _OPTION("--budget", help="Seconds after which no compile is begun; 0: until all are done.", min=0)
]
JobsOption = Annotated[int, _OPTION("--jobs", "-j", help="Worker processes; 0 means one a core.", min=0)]
OutputOption = Annotated[
    str | None,
    _OPTION("--output", "-o", help="Folder for the result, the search's journal and --format.", metavar="DIR"),
]
TopOption = Annotated[int, _OPTION("--top", help="Length of the short list.", min=1, max=1000)]
ResumeOption = Annotated[bool, _OPTION("--resume/--fresh", help="Go on from an earlier search, or forget it.")]
FormatOption = Annotated[
    str, _OPTION("--format", help="Also write: triton, aiter, vllm, sglang, dispatch.", metavar="NAME[,NAME]")
]
VerifyOption = Annotated[bool, _OPTION("--verify", help="Measure the short list on this machine's GPU.")]
SchedulerOption = Annotated[
    str | None, _OPTION("--scheduler", help="Dask scheduler whose workers compile: tcp://host:8786.", metavar="URL")
]
SignatureOption = Annotated[
    str | None, _OPTION("--signature", help="Argument types of a function without a KERNEL: '*fp16,*fp16,*fp16'.")
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


def command(
    kernel: Annotated[
        str, typer.Argument(metavar="KERNEL", help="A bundled kernel, a file with a KERNEL, or FILE.py::FUNCTION.")
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
    resume: ResumeOption = True,
    scheduler: SchedulerOption = None,
    signature: SignatureOption = None,
    grid: GridOption = "",
    constexpr: ConstexprOption = [],
    key: KeyOption = [],
    device_name: DeviceOption = "",
    json: JsonOption = None,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Rank a kernel's configurations by predicted time, without a GPU.

    Every configuration is compiled; a model predicts its time from the program and the launch. Ctrl-C shows what is
    known so far; the same command goes on from there.

    Exit codes: 0 a ranking for every problem, 2 cannot tell, 130 stopped by Ctrl-C.

    Example:  kprof tune gemm --shape M=4096,N=4096,K=4096 --arch MI300X
    """
    wanted = _tune_request.Request(
        kernel=kernel,
        shapes=tuple(assignments([item], "--shape") for item in shape),
        cases=tuple(case),
        shape_file=shapes,
        arch=arch,
        config=assignments(config, "--config"),
        space=space,
        signature=signature,
        grid=grid,
        constexprs=assignments(constexpr, "--constexpr"),
        jobs=jobs,
        scheduler=scheduler,
    )
    formats = _tune_request.writers(listed(format_), output)
    keys = assignments(key, "--key")
    device = _tune_request.device(verify=verify)
    subject, chosen = _tune_request.prepare(wanted)
    if device is not None:
        from kprof.tuning import verify as verification

        verification.check(subject, device)
    found, search_facts = _search(wanted, subject, chosen, budget=budget, output=output, resume=resume, quiet=quiet)
    measured_on = None
    if device is not None:
        told = None if quiet else log
        measured_on = verification.measure(kernel, subject, found, top=top, device=device, report=told)
    from kprof.tuning.document import document

    report = document(subject, found, measured_on=measured_on, **search_facts)
    _write_json(report, json, output)
    if json != "-":
        _show(report, top=top, quiet=quiet, no_color=no_color)
    for note in _tune_request.write_formats(formats, subject, found, report, top, keys, device_name, output):
        log(note)
    if json != "-":
        print(_verdict(report))
    raise typer.Exit(_exit_code(report))


def _search(
    wanted: "_tune_request.Request",
    subject: "Subject",
    space: Any,
    *,
    budget: float,
    output: str | None,
    resume: bool,
    quiet: bool,
) -> "tuple[Found, dict[str, str]]":
    from kprof.cli._tune_progress import Reporter
    from kprof.tuning import journal
    from kprof.tuning.search import Search

    judge = _tune_request.judge()
    executor = _tune_request.executor(wanted, judge, subject)
    place = journal.place(output, subject.kernel.name, subject.arch.name, tuple(sorted(subject.dependencies())))
    kept = journal.Journal(place, fresh=not resume)
    try:
        with Reporter(quiet=quiet) as reporter:
            search = Search(
                subject,
                space,
                judge=judge,
                executor=executor,
                journal=kept,
                budget=budget or None,
                report=reporter.show,
            )
            found = search.run()
    finally:
        kept.close()
    return found, {"workers": executor.description, "journal": str(place)}


def _write_json(report: "TuneReport", json: str | None, output: str | None) -> None:
    from pathlib import Path

    import msgspec

    text = msgspec.json.format(msgspec.json.encode(report), indent=2)
    if output is not None:
        write_output(str(Path(output) / "result.json"), text)
    if json is not None:
        write_output(json, text)


def _show(report: "TuneReport", *, top: int, quiet: bool, no_color: bool) -> None:
    if quiet:
        return
    from kprof.cli._tune_show import show

    show(report, top=top, no_color=no_color)


def _verdict(report: "TuneReport") -> str:
    from kprof.cli._tune_show import verdict

    return verdict(report)


def _exit_code(report: "TuneReport") -> int:
    if report.search.ended == "interrupted":
        return EXIT_INTERRUPTED
    return 0 if report.verdict["status"] == "ok" else 2
