"""``kprof tune``: rank configurations without a GPU."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli.common import ConfigOption, JsonOption, NoColorOption, QuietOption
from kprof.inputs.assignments import assignments, listed
from kprof.output.writing import log, write_output
from kprof.tuning import request as _tune_request

if TYPE_CHECKING:
    from kprof.tuning.document import TuneReport
    from kprof.tuning.request import Manner, Request
    from kprof.tuning.search import Found
    from kprof.tuning.space import Space
    from kprof.tuning.subject import Subject

HELP = "Rank a kernel's configurations by predicted time, without a GPU."
EXIT_INTERRUPTED = 130

_OPTION = typer.Option
ShapesOption = Annotated[
    list[str],
    _OPTION("--shape", "-s", help="One problem: M=4096,N=4096,K=4096. Again for another problem.", metavar="K=V,..."),
]
CasesOption = Annotated[
    list[str], _OPTION("--case", help="One of the kernel's named problems. May be given again.", metavar="NAME")
]
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
SchedulerOption = Annotated[
    str | None, _OPTION("--scheduler", help="Dask scheduler whose workers compile: tcp://host:8786.", metavar="URL")
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
        kernel, shape, case, shapes, arch, config, space, signature, grid, constexpr, jobs, scheduler
    )
    manner = _tune_request.Manner(budget, top, output, format_, verify, resume, key, device_name, json, quiet, no_color)
    raise typer.Exit(_run(wanted, manner))


def _run(wanted: "Request", manner: "Manner") -> int:
    """Everything, from the questions that can be answered at once to the verdict; the exit code."""
    formats = _tune_request.writers(listed(manner.formats), manner.output)
    keys = assignments(manner.key, "--key")
    device = _tune_request.device(verify=manner.verify)
    subject, chosen = _tune_request.prepare(wanted)
    if device is not None:
        from kprof.tuning import verify

        verify.check(subject, device)
    found, search_facts = _search(wanted, manner, subject, chosen)
    measured_on = None
    if device is not None and found.ended != "interrupted":
        told = None if manner.quiet else log
        measured_on = verify.measure(wanted.kernel, subject, found, top=manner.top, device=device, report=told)
    from kprof.cli._tune_show import show, verdict
    from kprof.tuning.document import document

    report = document(subject, found, measured_on=measured_on, top=manner.top, **search_facts)
    # First what the search was for: a full disk must not take it away.
    if manner.json != "-" and not manner.quiet:
        show(report, no_color=manner.no_color)
    _write_json(report, manner)
    for note in _tune_request.write_formats(formats, subject, found, report, manner, keys=keys):
        log(note)
    if manner.json != "-":
        print(verdict(report))
    if report.search.ended == "interrupted":
        return EXIT_INTERRUPTED
    return 0 if report.verdict.status == "ok" else 2


def _search(wanted: "Request", manner: "Manner", subject: "Subject", space: "Space") -> "tuple[Found, dict[str, str]]":
    from kprof.cli._tune_progress import Reporter
    from kprof.tuning import journal
    from kprof.tuning.search import Search

    judge = _tune_request.judge()
    executor = _tune_request.executor(wanted, judge, subject)
    files = tuple(sorted(subject.dependencies()))
    place = journal.place(manner.output, subject.kernel.name, subject.arch.name, files)
    kept = journal.Journal(place, fresh=not manner.resume, in_cache=manner.output is None)
    try:
        with Reporter(quiet=manner.quiet) as reporter:
            found = Search(
                subject,
                space,
                judge=judge,
                executor=executor,
                journal=kept,
                budget=manner.budget or None,
                report=reporter.show,
            ).run()
    finally:
        kept.close()
    return found, {"workers": executor.description, "journal": "" if place is None else str(place)}


def _write_json(report: "TuneReport", manner: "Manner") -> None:
    from pathlib import Path

    import msgspec

    text = msgspec.json.format(msgspec.json.encode(report), indent=2)
    if manner.output is not None:
        write_output(str(Path(manner.output) / "result.json"), text)
    if manner.json is not None:
        write_output(manner.json, text)
