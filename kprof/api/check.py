"""``kprof.check``: compare kernels with budgets and a baseline."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec

from kprof.api.options import Path_
from kprof.api.result import ReportResult
from kprof.document import Report, Verdict
from kprof.errors import KprofError, near
from kprof.options.keywords import keywords
from kprof.options.searches import CheckOptions
from kprof.version import __version__

if TYPE_CHECKING:
    from kprof.gate.baseline import Baseline
    from kprof.gate.config import Config
    from kprof.gate.subject import CheckSubject


@dataclass(frozen=True, eq=False, repr=False)
class CheckResult(ReportResult):
    """Result of a check: the verdict is ``ok``, ``regression`` or ``cannot_tell``; findings that fail are marked.

    Attributes:
        document: the checked kernels, as ``kprof check --json`` writes them.
        baseline: the baseline file, or ``None`` if none is configured.
    """

    baseline: Path | None = None
    kind: ClassVar[str] = "check"

    @property
    def notes(self) -> list[str]:
        """Notes on the whole run, for example that there is no baseline yet."""
        return self.document.notes


@keywords
def check(config_file: "Path_ | None" = None, *, options: CheckOptions) -> CheckResult:
    """Compile the kernels that ``[tool.kprof]`` names and compare them with budgets and a baseline. No GPU is used.

    Args:
        config_file: ``kprof.toml`` or ``pyproject.toml``; ``None`` searches the current folder and its parents.
        options: architectures, baseline file, and whether to update the baseline or to start a configuration.

    Returns:
        The verdict. A kernel that does not compile raises no error: it makes the verdict ``cannot_tell``.

    Raises:
        KprofError: the configuration or the baseline cannot be read, or there is no baseline file to update.
        HardwareError: an architecture is not known.
    """
    from kprof.gate.config import find, load
    from kprof.gate.subjects import gather, vanished

    if options.init:
        return _begun(config_file, options)
    chosen = (Path(config_file) if config_file is not None else find(Path.cwd())).absolute()
    settings = load(chosen)
    rules = _rules(settings, chosen)
    folder = chosen.parent
    named = (
        Path(options.baseline)
        if options.baseline is not None
        else folder / settings.baseline
        if settings.baseline
        else None
    )
    if options.update_baseline and named is None:
        raise KprofError("no baseline file is named", hint='Set baseline = "kprof-baseline.json", or give --baseline.')
    subjects = gather(settings, folder, options.jobs, tuple(options.arch))
    if options.update_baseline and named is not None:
        return CheckResult(_updated(named, subjects, settings), named)
    known, notes = _accepted(named)
    if known is not None:
        subjects += vanished(known, subjects)
    # In a repository with several configurations, kprof may use the configuration of a parent folder. A hint then names
    # the file.
    above = os.path.relpath(chosen) if config_file is None and folder != Path.cwd() else ""
    document = _judged(settings, subjects, known, folder, rules, notes, above)
    if options.advise:
        from kprof.gate.cures import with_cures

        document = with_cures(document, subjects, chosen, options.advise, options.jobs)
    return CheckResult(document, named)


def _begun(config_file: "Path_ | None", options: CheckOptions) -> CheckResult:
    """Write a configuration, a baseline and a CI workflow for the kernels in this folder (``--init``).

    Raises:
        KprofError: a configuration exists already, or there is nothing to check.
    """
    from kprof.gate.config import find, load
    from kprof.gate.first_files import (
        BASELINE,
        CONFIG,
        WORKFLOW,
        config_text,
        find_targets,
        kprof_address,
        workflow_text,
    )
    from kprof.gate.subjects import gather
    from kprof.hardware.default import DEFAULT_GPU
    from kprof.output.writing import write_output

    if config_file is not None:
        raise KprofError("--init writes kprof.toml into this folder", hint="Leave --config-file out.")
    folder = Path.cwd()
    try:
        there = find(folder)
    except KprofError:
        there = None
    if there is not None and there.parent == folder:
        raise KprofError("there is a configuration already", path=there.name, hint="kprof check uses it.")
    found = find_targets(folder)
    write_output(CONFIG, config_text(found, list(options.arch) or [DEFAULT_GPU]))
    settings = load(folder / CONFIG)
    subjects = gather(settings, folder, options.jobs)
    document = _updated(Path(BASELINE), subjects, settings)
    written = [f"{CONFIG}: written, {found.words}", document.verdict.summary]
    if not WORKFLOW.exists():
        WORKFLOW.parent.mkdir(parents=True, exist_ok=True)
        write_output(str(WORKFLOW), workflow_text())
        cure = "" if kprof_address() else "; set the repository variable KPROF to kprof's pip requirement"
        written.append(f"{WORKFLOW}: written{cure}")
    verdict = Verdict(status=document.verdict.status, summary="\n".join(written))
    return CheckResult(msgspec.structs.replace(document, verdict=verdict), folder / BASELINE)


def _rules(settings: "Config", path: Path) -> dict[str, str]:
    """Check that every rule in the configuration exists, and return the names of all rules by identifier.

    Raises:
        KprofError: the configuration names an unknown rule, which would have no effect.
    """
    from kprof.gate.config import METRICS
    from kprof.reporters.rule_list import all_rules

    rules = {rule.id: rule.name for rule in all_rules()}
    known = {*rules, *rules.values()}
    entries = [*settings.kernel, *(program.entry() for program in settings.program)]
    forbidden = [*settings.forbid, *(name for entry in entries for name in entry.forbid)]
    required = [*settings.require, *(name for entry in entries for name in entry.require)]
    for key, named in (("forbid", forbidden), ("require", required)):
        for name in named:
            if name not in known:
                hint = "kprof list rules shows them."
                raise KprofError(f"{key}: there is no rule {name!r}{near(name, known)}", path=str(path), hint=hint)
    for allowance in settings.allow:
        what = allowance.what
        if what not in known and what not in METRICS:
            text = f"allow: there is no metric or rule {what!r}{near(what, {*known, *METRICS})}"
            raise KprofError(text, path=str(path), hint="kprof list rules shows the rules.")
    return rules


def _accepted(path: Path | None) -> "tuple[Baseline | None, list[str]]":
    """Return the baseline, and notes on it; the baseline is ``None`` without a path.

    If the file does not exist yet, return an empty baseline.
    """
    from kprof.gate.baseline import Baseline, read

    if path is None:
        return None, []
    if path.exists():
        return read(path), []
    return Baseline(), [f"there is no baseline yet: kprof check --update-baseline writes {path.name}"]


def _judged(
    settings: "Config",
    subjects: "list[CheckSubject]",
    known: "Baseline | None",
    folder: Path,
    rules: dict[str, str],
    notes: list[str],
    above: str,
) -> Report:
    import datetime as dt

    from kprof.gate.judge import Gate

    root = next((p for p in (folder, *folder.parents) if (p / ".git").exists()), folder)
    today = dt.datetime.now(dt.timezone.utc).date()
    gate = Gate(config=settings, baseline=known, today=today, root=root, rules=rules, found_above=above)
    return gate.judge(subjects, notes)


def _nothing_accepted(path: Path, subjects: "list[CheckSubject]") -> Report:
    """Return the result of an update if no check succeeded.

    No baseline is written then, because an empty baseline would accept anything.
    """
    from kprof.output.quantities import plural

    none = f"none of {plural(len(subjects), 'check')} could be determined" if subjects else "nothing is checked"
    reasons = dict.fromkeys(
        (subject.kernel, subject.report.arch, subject.problem, subject.block) for subject in subjects
    )
    return Report(
        kprof=__version__,
        kernels=[subject.report for subject in subjects],
        verdict=Verdict(status="cannot_tell", summary=f"{path}: not written: {none}"),
        notes=[
            "\n    ".join([f"{kernel} on {arch}: {why}", *block.splitlines()]) for kernel, arch, why, block in reasons
        ],
    )


def _updated(path: Path, subjects: "list[CheckSubject]", settings: "Config") -> Report:
    """Write the baseline and return the result.

    A kernel that cannot be compiled keeps its old state in the baseline, and makes the verdict ``cannot_tell``.
    """
    from kprof.gate.baseline import Baseline, encode, read, updated
    from kprof.gate.limits import cannot_launch, over_budget
    from kprof.output.quantities import plural
    from kprof.output.writing import write_output

    old = read(path) if path.exists() else Baseline()
    if not path.exists() and all(subject.problem is not None for subject in subjects):
        return _nothing_accepted(path, subjects)
    text = encode(updated(old, subjects))
    changed = not path.exists() or path.read_text(encoding="utf-8") != text
    write_output(str(path), text)
    failed = [subject for subject in subjects if subject.problem is not None]
    refused = []
    for subject in subjects:
        arch = subject.report.arch
        budget = settings.budget_for(subject.entry, arch)
        # Launch errors and exceeded budgets fail with any baseline, so the next check would report them again.
        found = (*cannot_launch(subject), *over_budget(subject, budget)) if subject.problem is None else ()
        refused += [f"{subject.kernel} on {arch}: {finding.message}: fails with any baseline" for finding in found]
    left = f", {len(failed)} could not be determined and kept their old state" if failed else ""
    done = plural(len(subjects) - len(failed), "check")
    return Report(
        kprof=__version__,
        kernels=[subject.report for subject in subjects],
        verdict=Verdict(
            status="cannot_tell" if failed or not subjects else "ok",
            summary=f"{path}: {'written' if changed else 'nothing changed'}, {done}{left}",
        ),
        notes=[*(f"{subject.kernel} on {subject.report.arch}: {subject.problem}" for subject in failed), *refused],
    )
