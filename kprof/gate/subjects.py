"""Compile and analyse the kernels of the gate's configuration; an error in one kernel does not stop the others."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from kprof.captures.layout import is_capture
from kprof.captures.staleness import shortened
from kprof.compiler.specialization import specialization_of
from kprof.document import KernelReport
from kprof.errors import HardwareError, KprofError, UnknownLaunchError
from kprof.findings import Location
from kprof.gate.baseline import Baseline, missing_entries
from kprof.gate.captured import captured
from kprof.gate.config import Config, KernelEntry
from kprof.gate.limits import cannot_launch
from kprof.gate.subject import COMPILER_STAGES, CheckSubject, failed, numbered
from kprof.hardware.default import DEFAULT_GPU
from kprof.hardware.machine import load_gpu
from kprof.options.groups import CompileOptions
from kprof.targets.artefacts import links_below
from kprof.targets.jobs import TargetJob, plan
from kprof.targets.resolver import load
from kprof.targets.target import resolve
from kprof.targets.usable_options import check, given

if TYPE_CHECKING:
    from kprof.compiler.request import CompileOutcome

_LINE = re.compile(r"line (\d+)")


@dataclass(frozen=True)
class _Planned:
    """A planned compile of one configuration entry."""

    entry: KernelEntry
    case: str | None
    job: TargetJob
    optional: bool = False


def gather(config: Config, folder: Path, jobs: int = 0, archs: Sequence[str] = ()) -> list[CheckSubject]:
    """Compile, read and analyse all kernels of a configuration, in its order.

    Args:
        config: the configuration.
        folder: folder to which the configuration's paths are relative.
        jobs: number of worker processes, 0 for one per core.
        archs: architectures to check; empty for all that the configuration names.

    Raises:
        KprofError: an architecture is not known.
    """
    from kprof.compiler.request import CompileOutcome
    from kprof_analyzers.report_cache import judged

    wanted = [load_gpu(name)[0].name for name in archs]
    chosen = [(entry, _gpus(entry.arch or config.arch or [DEFAULT_GPU], wanted)) for entry in config.kernel]
    slots: list[CheckSubject | None] = []
    planned: list[tuple[int, _Planned]] = []

    def compiles() -> Iterator[TargetJob]:
        """Yield the compiles entry by entry, so that later entries are planned while workers compile earlier ones."""
        for entry, gpus in chosen:
            for step in _steps(entry, gpus, folder) if gpus else ():
                if isinstance(step, _Planned):
                    planned.append((len(slots), step))
                    slots.append(None)
                    yield step.job
                else:
                    slots.append(step)

    for index, result in judged(compiles(), jobs or None):
        slot, step = planned[index]
        slots[slot] = (
            CheckSubject(step.entry, result, step.case, optional=step.optional)
            if isinstance(result, KernelReport)
            else _failed_check(step, result)
        )
    for slot, step in planned:
        if slots[slot] is None:
            slots[slot] = _failed_check(
                step, CompileOutcome(step.job.request, status="lost", error="its compile did not finish")
            )
    made = require_launchable([subject for subject in slots if subject is not None])
    return [*made, *_programs(config, folder, jobs, wanted)]


def require_launchable(subjects: Sequence[CheckSubject]) -> list[CheckSubject]:
    """Return the checks. If every configuration of an autotuner is unusable, none of its checks stays optional."""
    groups: dict[tuple[int, str | None, str], list[bool]] = {}
    for one in subjects:
        unusable = one.refused or any(cannot_launch(replace(one, optional=False)))
        groups.setdefault((id(one.entry), one.case, one.report.arch), []).append(unusable)
    return [
        replace(one, optional=False) if all(groups[id(one.entry), one.case, one.report.arch]) else one
        for one in subjects
    ]


def vanished(baseline: Baseline, subjects: Sequence[CheckSubject]) -> list[CheckSubject]:
    """Return an undetermined check for each kernel that is in the baseline but not in this run."""
    here = {(subject.kernel, subject.report.arch) for subject in subjects}
    why = "the baseline has this kernel, but it no longer exists; if that is intended: kprof check --update-baseline"
    lost = dict.fromkeys(
        (kernel, arch) for kernel, _, arch in missing_entries(baseline, subjects) if (kernel, arch) not in here
    )
    return [failed(KernelEntry(target=kernel), arch, why, None) for kernel, arch in lost]


def _programs(config: Config, folder: Path, jobs: int, wanted: Sequence[str]) -> Iterator[CheckSubject]:
    """Yield the checks of programs that are recorded during the check."""
    if not config.program:
        return
    from kprof.gate.programs import recorded

    for program in config.program:
        gpus = _gpus(program.arch or config.arch or [DEFAULT_GPU], wanted)
        yield from numbered(list(recorded(program, gpus, folder, jobs)))


def _gpus(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Return each requested architecture once, as a product if one is named.

    Raises:
        KprofError: two products of one architecture are named, although their code and therefore their checks would be
            the same.
    """
    found: dict[str, str] = {}
    for name in names:
        machine, product = load_gpu(name)
        known = load_gpu(found[machine.name])[1] if machine.name in found else None
        if product is not None and known is not None and product != known:
            both = f"{known.name} and {product.name}"
            raise HardwareError(
                f"arch names {both}, which run the same code ({machine.name})", hint="Name one of them."
            )
        chosen = product or known
        found[machine.name] = machine.name if chosen is None else chosen.name
    return [gpu for arch, gpu in found.items() if not wanted or arch in wanted]


def _steps(entry: KernelEntry, gpus: Sequence[str], folder: Path) -> Iterator[CheckSubject | _Planned]:
    target = located(entry.target, folder)
    place = Path(target.partition("::")[0])
    if place.suffix != ".py" and (place.exists() or place.suffix or "/" in target):
        yield from numbered(list(_read(entry, target, gpus)))
        return
    cases: Sequence[str | None] = entry.case or [None]
    for machine, product in map(load_gpu, gpus):
        for case in cases:
            try:
                found = plan(target, [machine], entry_options(entry, case), product)
            except UnknownLaunchError as error:
                yield _without_launch(entry, machine.name, error, folder)
                continue
            except KprofError as error:
                yield failed(entry, machine.name, str(error), _source(target, error), case=case)
                continue
            # Only configurations of an autotuner are optional: it skips those that cannot be launched, but a call needs
            # each of its launches.
            several = entry.all_configs and len(found) > 1
            for job in found:
                yield _step(_Planned(entry, case, replace(job, product=product), optional=several))


def _step(planned: _Planned) -> CheckSubject | _Planned:
    """Return the planned compile; for an autotuned function, the check of the best configuration by the model."""
    from kprof_analyzers.report_cache import judged_listed

    if not planned.job.listed:
        return planned
    try:
        return CheckSubject(planned.entry, judged_listed(planned.job, CompileOptions()), planned.case)
    except KprofError as error:
        return failed(planned.entry, planned.job.machine.name, str(error), _source(planned.job.request.path, error))


def _without_launch(entry: KernelEntry, arch: str, error: UnknownLaunchError, folder: Path) -> CheckSubject:
    """Return the check of a function without launch information, with configuration lines that can describe it."""
    # In pyproject.toml, unlike kprof.toml, all tables are below tool.kprof.
    plain = (folder / "kprof.toml").exists()
    table = "" if plain else "tool.kprof."
    file = "kprof.toml" if plain else "pyproject.toml"
    if error.program:
        place = entry.target.partition("::")[0]
        why = f"{entry.target} is a program, and the configuration does not describe how its function is launched"
        block = f'[[{table}program]]\ncommand = ["python", {json.dumps(place)}]'
    else:
        why = f"the configuration does not describe how the function of {entry.target} is launched"
        types = ", ".join(f"{name}=TYPE" for name in error.arguments)
        values = ", ".join(f"{name} = VALUE" for name in error.constexprs)
        block = f'[[{table}kernel]]\ntarget = {json.dumps(entry.target)}\nsignature = "{types}"'
        block += f"\nconstexpr = {{ {values} }}" if values else ""
    subject = failed(
        entry,
        arch,
        f"{why}; replace its [[kernel]] in {file} by:",
        _source(located(entry.target, folder), error),
    )
    return replace(subject, block=block)


def entry_options(entry: KernelEntry, case: str | None) -> CompileOptions:
    """Return the compile options of an entry."""
    return CompileOptions(
        config=entry.config,
        shape=[entry.shape],
        case=case,
        all_configs=entry.all_configs,
        signature=entry.signature,
        constexpr=entry.constexpr,
        grid=entry.grid,
        env=entry.env,
    )


def located(target: str, folder: Path) -> str:
    """Resolve a target's file, which is relative to the configuration's folder."""
    file, colons, function = target.partition("::")
    path = folder / file
    is_file = path.exists() or Path(file).suffix or "/" in file
    return f"{path}{colons}{function}" if is_file else target


def _read(entry: KernelEntry, target: str, gpus: Sequence[str]) -> Iterator[CheckSubject]:
    """Yield checks of compiled kernels, and an undetermined check for each requested architecture without a kernel."""
    place = Location(file=target, line=1)
    missing = {load_gpu(name)[0].name: None for name in gpus}
    first = next(iter(missing))
    found: list[CheckSubject] = []
    try:
        check(resolve(target).kind, entry.target, given(entry_options(entry, next(iter(entry.case), None))))
        for one in captured(entry, target, gpus) if is_capture(Path(target)) else _compiled(entry, target, gpus):
            found.append(one)
            missing.pop(one.report.arch, None)
            yield one
    except KprofError as error:
        yield failed(entry, first, str(error), place)
        return
    has = ", ".join(dict.fromkeys(one.report.arch for one in found))
    for arch in missing:
        yield failed(
            entry, arch, f"contains no kernel for {arch}, only for {has}; set the entry's arch to one of these", place
        )


def _compiled(entry: KernelEntry, target: str, gpus: Sequence[str]) -> Iterator[CheckSubject]:
    """Yield a check for every kernel of a file or a directory; the last one has a remark on skipped files."""
    from kprof_analyzers.pipeline import analyze

    others: list[str] = []
    last: CheckSubject | None = None
    for kernel in load(target, CompileOptions(arch=tuple(gpus)), others):
        if last is not None:
            yield last
        report = analyze(kernel)
        if report.source is UNSET:
            # A kernel of a folder is located in its own file, not in the folder.
            file = target if kernel.file is None else str(Path(target) / kernel.file)
            report = msgspec.structs.replace(report, source=Location(file=file, line=1))
        last = CheckSubject(entry, report)
    if last is not None:
        counts = Counter(others)
        words = ", ".join(f"{count} for {arch}" for arch, count in sorted(counts.items()))
        reasons = [f"{entry.target} also has {words}"] if words else []
        if links := links_below(Path(target)):
            reasons.append(f"links in {entry.target} not followed: {', '.join(shortened(links))}")
        yield replace(last, left_out="; ".join(reasons))


def _failed_check(step: _Planned, outcome: "CompileOutcome") -> CheckSubject:
    """Return the check of a kernel that did not compile or could not be analysed."""
    job = step.job
    error = KprofError(outcome.error or outcome.status, path=outcome.path, place=outcome.place, hint=outcome.hint)
    refused = outcome.status == "failed" and outcome.stage in COMPILER_STAGES
    source = _source(job.request.path, error)
    # The finding's location is already the line of the compile error, so the text does not repeat it.
    why = str(KprofError(error.message, hint=error.hint)) if refused and source is not None else str(error)
    subject = failed(step.entry, job.machine.name, why, source, case=step.case)
    report = msgspec.structs.replace(subject.report, name=job.name, specialization=specialization_of(job.request))
    return replace(subject, report=report, refused=refused, optional=step.optional)


def _source(target: str, error: KprofError) -> Location | None:
    """Return the line that an error names, else the first line of the target's file."""
    file = target.partition("::")[0]
    if error.path and Path(error.path).suffix == ".py":
        file = error.path
    elif Path(file).suffix != ".py":
        return None
    found = _LINE.search(error.place or "")
    return Location(file=file, line=int(found[1]) if found else 1)
