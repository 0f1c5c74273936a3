"""``kprof check``: the gate for continuous integration."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import ArchOption, JobsOption, NoColorOption, QuietOption, VerboseOption
from kprof.errors import KprofError
from kprof.inputs.assignments import listed
from kprof.output.colour import coloured
from kprof.output.writing import log, print_styled, write_output
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.document import Report
    from kprof.gate.config import Config
    from kprof.gate.subject import Subject

HELP = "Compare kernels with budgets and a baseline: the gate for CI."

_EXIT = {"ok": 0, "regression": 1, "cannot_tell": 2}


@format_options("check")
def command(
    config: Annotated[
        Path | None,
        typer.Option("--config-file", help="kprof.toml or pyproject.toml; looked for here and above by default."),
    ] = None,
    arch: ArchOption = "",
    baseline: Annotated[
        Path | None, typer.Option("--baseline", help="Baseline file instead of the configuration's.", metavar="PATH")
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Write the present state to the baseline file; judge nothing.")
    ] = False,
    outputs: Outputs = NO_OUTPUTS,
    advise: Annotated[
        float,
        typer.Option("--advise", help="Seconds to look, by recompiling, for knobs that cure a regression.", min=0),
    ] = 0.0,
    jobs: JobsOption = 0,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Compile the kernels that [tool.kprof] names and compare them with budgets and a baseline. No GPU is used.

    Exit codes: 0 nothing is worse, 1 a regression, 2 cannot tell.

    Example:  kprof check --update-baseline, once; then kprof check in every pull request
    """
    from kprof.gate.config import find, load
    from kprof.gate.subjects import gather

    chosen = (config or find(Path.cwd())).absolute()
    settings = load(chosen)
    rules = _rules(settings, chosen)
    folder = chosen.parent
    named = baseline or (folder / settings.baseline if settings.baseline else None)
    if update_baseline and named is None:
        raise KprofError("no baseline file is named", hint='Set baseline = "kprof-baseline.json", or give --baseline.')
    subjects = gather(settings, folder, jobs, listed(arch))
    if update_baseline and named is not None:
        raise typer.Exit(_update(named, subjects, settings))
    document = _judged(settings, subjects, named, folder, rules)
    if advise:
        from kprof.gate.cures import with_cures

        document = with_cures(document, subjects, folder, advise, jobs)

    def text() -> None:
        from kprof.reporters.check_text import CheckTextReporter

        if quiet:
            print(document.verdict.summary)
            return
        reporter = CheckTextReporter(colour=coloured(no_color=no_color), verbose=verbose)
        print_styled(reporter.render(document))

    outputs.write(document, text)
    raise typer.Exit(_EXIT[document.verdict.status])


def _rules(settings: "Config", path: Path) -> dict[str, str]:
    """Identifiers of all rules to their names.

    Raises:
        KprofError: the configuration names a rule that there is not: it would forbid or require nothing.
    """
    from kprof.errors import near
    from kprof.reporters.rule_list import all_rules

    rules = {rule.id: rule.name for rule in all_rules()}
    known = {*rules, *rules.values()}
    entries = [*settings.kernel, *(program.entry() for program in settings.program)]
    forbidden = [*settings.forbid, *(name for entry in entries for name in entry.forbid)]
    required = [*settings.require, *(name for entry in entries for name in entry.require)]
    for key, names in (("forbid", forbidden), ("require", required)):
        for name in names:
            if name not in known:
                hint = "kprof rules list shows them."
                raise KprofError(f"{key}: there is no rule {name!r}{near(name, known)}", path=str(path), hint=hint)
    return rules


def _judged(
    settings: "Config", subjects: "list[Subject]", baseline: Path | None, folder: Path, rules: dict[str, str]
) -> "Report":
    import datetime as dt

    from kprof.gate.baseline import Baseline, read
    from kprof.gate.judge import Gate

    notes = []
    known = None
    if baseline is not None:
        known = read(baseline) if baseline.exists() else Baseline()
        if not baseline.exists():
            notes.append("there is no baseline yet: kprof check --update-baseline writes it")
            log(f"kprof: {baseline}: {notes[0]}")
    root = next((p for p in (folder, *folder.parents) if (p / ".git").exists()), folder)
    today = dt.datetime.now(dt.timezone.utc).date()
    gate = Gate(config=settings, baseline=known, today=today, root=root, rules=rules)
    return gate.judge(subjects, notes)


def _update(path: Path, subjects: "list[Subject]", settings: "Config") -> int:
    """Write the baseline; 2 when something could not be compiled and so has no new state."""
    from kprof.gate.baseline import Baseline, encode, read, updated
    from kprof.gate.limits import cannot_launch, over_budget
    from kprof.reporters._console_text import plural

    old = read(path) if path.exists() else Baseline()
    text = encode(updated(old, subjects))
    changed = not path.exists() or path.read_text(encoding="utf-8") != text
    write_output(str(path), text)
    failed = [subject for subject in subjects if subject.problem is not None]
    for subject in failed:
        log(f"kprof: {subject.kernel} on {subject.report.arch}: {subject.problem}")
    for subject in subjects:
        arch = subject.report.arch
        budget = settings.budget_for(subject.entry, arch)
        for finding in (*cannot_launch(subject), *over_budget(subject, budget)) if subject.problem is None else ():
            # What no baseline accepts: the next check fails on it.
            print(f"{subject.kernel} on {arch}: {finding.message}: fails with any baseline")
    left = f", {len(failed)} could not be told and kept their old state" if failed else ""
    done = plural(len(subjects) - len(failed), "check")
    print(f"{path}: {'written' if changed else 'nothing changed'}, {done}{left}")
    return _EXIT["cannot_tell" if failed or not subjects else "ok"]
