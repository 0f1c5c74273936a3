"""``kprof advise``: try other knobs by recompiling, and say what they change."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.api import measured_advice as _advise_measured
from kprof.api.measured_advice import CountersOption, NoSearchOption, TraceOption
from kprof.cli.common import ArchOption, ConfigOption, JobsOption, JsonOption, NoColorOption, ShapeOption
from kprof.errors import KprofError
from kprof.inputs.assignments import assignments, listed
from kprof.output.status_line import StatusLine
from kprof.output.terminal import terminal
from kprof.output.writing import log, write_output

if TYPE_CHECKING:
    from rich.table import Table

    from kprof.tuning.trials import Trial, Trials

HELP = "Try other knobs by recompiling, and show what they change."
_SHOWN = 6
_DOMINATED = 3
_HEADINGS = ("predicted", "spilled", "scratch", "VGPRs", "waves", "LDS KiB", "loads", "drains", "instr", "issue")
# What is left out in a narrow terminal, the first first, and columns for the names of the knobs.
_SPARE = ("issue", "instr", "drains", "LDS KiB", "loads")
_CHANGE = 26
_LEGEND = (
    "waves per SIMD; scratch, loads (count x bytes a lane), drains (full waits) and instructions of one iteration "
    "of the hot loop; issue: least issue cycles for 1,000 operations"
)


def command(
    target: Annotated[str, typer.Argument(metavar="KERNEL", help="A bundled kernel, or a file with a KERNEL.")],
    arch: ArchOption = "",
    config: ConfigOption = [],
    shape: ShapeOption = [],
    case: Annotated[str | None, typer.Option("--case", help="One of the kernel's named shapes.")] = None,
    env: Annotated[
        list[str], typer.Option("--env", help="Triton's environment switches to start from.", metavar="K=V,...")
    ] = [],
    budget: Annotated[float, typer.Option("--budget", help="Seconds after which no compile is begun.", min=1)] = 45.0,
    counters: CountersOption = [],
    trace: TraceOption = [],
    no_search: NoSearchOption = False,
    jobs: JobsOption = 0,
    json: JsonOption = None,
    no_color: NoColorOption = False,
) -> None:
    """Try other knobs by recompiling, and show what they change.

    With --counters or --trace the findings are first held against what was measured.

    Spills, registers, occupancy and instructions are verified by compiling. Time is predicted: nothing is measured.

    Example:  kprof advise flash_attention --case d256_s4096 --config BLOCK_M=128,BLOCK_N=64 --arch MI300X
    """
    from kprof.hardware.machine import load_gpu
    from kprof.output.progress import watching
    from kprof.targets.library import load
    from kprof.targets.options import DEFAULT_ARCH, Options
    from kprof.tuning.trials import advise

    names = listed(arch)
    if len(names) > 1:
        raise KprofError("kprof advise takes one architecture at a time")
    measurement = _advise_measured.read(counters, trace, names[0] if names else None, search=not no_search)
    gpu = (measurement.name if measurement is not None else None) or (names[0] if names else DEFAULT_ARCH)
    machine, product = load_gpu(gpu)
    options = Options(
        config=assignments(config, "--config"),
        shape=assignments(shape, "--shape"),
        case=case,
        environment={name: str(value) for name, value in assignments(env, "--env").items()},
        jobs=jobs,
    )
    document: dict[str, Any] = {}
    if measurement is not None:
        report, measured = _advise_measured.judge(target, gpu, options, measurement)
        document = _advise_measured.document(report, measured)
        if json != "-":
            _advise_measured.show(report, measured, terminal(no_color=no_color))
    if not no_search:
        kernel = load(target)
        with watching(None), StatusLine() as status:
            trials = advise(
                kernel,
                machine,
                options,
                product=product,
                budget=budget,
                progress=lambda n, what: status.draw(f"{n} compiled: {what}"),
            )
        document |= _document(trials)
        if json != "-":
            _show(trials, no_color=no_color)
    if json:
        import msgspec

        write_output(json, msgspec.json.format(msgspec.json.encode(document), indent=2).decode())


def _show(trials: "Trials", *, no_color: bool) -> None:
    from kprof.reporters._console_text import plural

    console = terminal(no_color=no_color)
    start = trials.start.report
    assert start is not None
    console.print(f"[bold]{start.name}[/bold]   {start.arch}   Triton {start.triton}", highlight=False)
    console.print(_knobs(trials.start.config), style="dim", markup=False)
    console.print()
    table, legend = _table(trials, console.width)
    console.print(table)
    console.print(legend, style="dim")
    for reason, count in sorted(trials.failed.items(), key=lambda item: -item[1])[:3]:
        log(f"{plural(count, 'configuration')} left out: {reason}")
    if trials.why:
        log(f"no times: {trials.why}. What is compared are resources and instructions")
    why = "since the last ones brought nothing better" if trials.settled else "when the budget was spent"
    left = f", {trials.left} left out {why}" if trials.left else ""
    console.print(f"\n{plural(trials.tried, 'configuration')} compiled in {trials.seconds:.0f} s{left}.", style="dim")
    if trials.best:
        predicted = " Predicted: time." if trials.ranked_by == "time" else ""
        console.print(f"Verified: resources and instructions.{predicted} Nothing was measured.", style="dim")
        console.print(f"\n{_triton_config(trials.best[0].config)}", markup=False)
    print(_verdict(trials))


def _verdict(trials: "Trials") -> str:
    from kprof.reporters._console_text import plural

    if not trials.best:
        return "no change of knobs helps: " + (
            "none is predicted to be faster"
            if trials.ranked_by == "time"
            else "none is better without being worse elsewhere"
        )
    first = _knobs(trials.best[0].change)
    if trials.ranked_by != "time":
        return f"{plural(len(trials.best), 'configuration')} worth a try; the first one: {first}"
    if not trials.told_apart:
        return f"no change of knobs is predicted to help enough to tell; the nearest: {first}{_gain(trials)}"
    return f"try {first}{_gain(trials)}"


def _gain(trials: "Trials") -> str:
    """The predicted time of the first one beside that of the start."""
    from kprof.reporters._model_text import duration

    before, after, gain = trials.start.time_us, trials.best[0].time_us, trials.gain
    if before is None or after is None or gain is None:
        return ""
    return f" (predicted {duration(before)} → {duration(after)}, {gain:.2f} times as fast)"


def _table(trials: "Trials", width: int) -> "tuple[Table, str]":
    """The trials, and what the columns mean; where there is little room the less telling columns are left out."""
    from rich.table import Table

    best, dominated = trials.best[:_SHOWN], trials.dominated[:_DOMINATED]
    cells = {id(trial): _cells(trial) for trial in (trials.start, *best, *dominated)}
    kept = _fitting(list(cells.values()), width - _CHANGE)
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("change")
    for place in kept:
        table.add_column(_HEADINGS[place], justify="right", no_wrap=True)

    def add(trial: "Trial", name: str, style: str | None) -> None:
        table.add_row(name, *(cells[id(trial)][place] for place in kept), style=style)

    add(trials.start, "as it is", "dim")
    for number, trial in enumerate(best):
        add(trial, _knobs(trial.change), "bold" if number == 0 else None)
    if dominated:
        table.add_section()
        table.add_row("dominated by another:", style="dim")
        for trial in dominated:
            add(trial, _knobs(trial.change), "dim")
    missing = [_HEADINGS[place] for place in range(len(_HEADINGS)) if place not in kept]
    return table, f"{_LEGEND}; no room for {', '.join(missing)}" if missing else _LEGEND


def _fitting(rows: list[list[str]], room: int) -> list[int]:
    """Places of the columns that fit, in order; those of ``_SPARE`` go first where there is no room for all."""
    sizes = [max(map(len, column)) + 2 for column in zip(_HEADINGS, *rows, strict=True)]
    kept = list(range(len(_HEADINGS)))
    for name in _SPARE:
        if sum(sizes[place] for place in kept) > room:
            kept.remove(_HEADINGS.index(name))
    return kept


def _cells(trial: "Trial") -> list[str]:
    from kprof.reporters._model_text import duration

    measure = trial.measure
    assert measure is not None
    loads = " ".join(f"{count}x{width}" for width, count in measure.loads.items())
    issue = "" if measure.issue_per_work == float("inf") else f"{measure.issue_per_work:.3g}"
    return [
        "-" if trial.time_us is None else duration(trial.time_us),
        f"{measure.vgpr_spills}",
        f"{measure.scratch}",
        f"{measure.vgprs}",
        f"{measure.waves:g}",
        f"{measure.lds_bytes / 1024:.4g}",
        loads or "-",
        f"{measure.drains}",
        f"{measure.instructions}",
        issue,
    ]


def _knobs(config: "Any") -> str:
    return " ".join(f"{name}={value}" for name, value in config.items())


def _triton_config(config: "Any") -> str:
    """The configuration as code for ``triton.autotune``. AMD's own options go where the kernel's do.

    Environment switches are no part of it: they come first, as a shell would set them.
    """
    from kprof.tuning.trials.changes import SWITCHES

    switches = [f"{name}={config[name]}" for name in config if name in SWITCHES]
    own = {n: v for n, v in config.items() if n not in {"num_warps", "num_stages", *SWITCHES}}
    launch = ", ".join(f"{name}={config[name]}" for name in ("num_warps", "num_stages") if name in config)
    return "\n".join([*switches, f"triton.Config({own!r}, {launch})"])


def _document(trials: "Trials") -> dict[str, Any]:
    from dataclasses import asdict

    import msgspec

    from kprof.tuning.trials import advised

    def entry(trial: "Trial") -> dict[str, Any]:
        return {
            "change": dict(trial.change),
            "config": dict(trial.config),
            "measure": asdict(trial.measure) if trial.measure is not None else None,
            "error": trial.error,
            "time_us": trial.time_us,
            "low_us": trial.low_us,
            "high_us": trial.high_us,
            "parts": dict(trial.parts),
        }

    start = trials.start.report
    assert start is not None
    return {
        "schema": "kprof.advice/1",
        "kernel": start.name,
        "arch": start.arch,
        "triton": start.triton,
        "start": entry(trials.start),
        "best": [entry(trial) for trial in trials.best],
        "dominated": [entry(trial) for trial in trials.dominated],
        "findings": msgspec.to_builtins(advised(trials)),
        "failed": dict(trials.failed),
        "ranked_by": trials.ranked_by,
        "why": trials.why,
        "gain": trials.gain,
        "told_apart": trials.told_apart,
        "all": [
            {"change": dict(t.change), "time_us": t.time_us, "low_us": t.low_us, "high_us": t.high_us}
            for t in trials.all
        ],
        "tried": trials.tried,
        "left": trials.left,
        "settled": trials.settled,
        "seconds": round(trials.seconds, 1),
    }
