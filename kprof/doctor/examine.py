"""Run every check of the folder on a machine."""

from collections import Counter
from dataclasses import replace as replace_fields
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from msgspec.structs import replace

from kprof.doctor.arguments import judge_arguments, unjudged
from kprof.doctor.check import DoctorCheck
from kprof.doctor.command_line import ServerCommand
from kprof.doctor.document import CheckOutcome, Diagnosis, DoctorVerdict, SettingOutcome
from kprof.doctor.host import Host, HostGpu
from kprof.doctor.judging import judged, unseen
from kprof.doctor.settings import Workload
from kprof.version import __version__

_READ = "read assembly, code objects, caches, counters and traces"
_COMPILE = "compile kernels and model their time"
_RUN = "run kernels on the GPU"
_CHECK = "check kernels on the CUDA GPU"
_SECTIONS = ("software", "gpu", "host", "environment", "disk")


@cache
def checks() -> tuple[DoctorCheck, ...]:
    """One of each, by section and name."""
    import kprof.doctor.checks as folder

    found = [
        each
        for module in iter_modules(folder.__path__)
        for each in vars(import_module(f"{folder.__name__}.{module.name}")).values()
        if isinstance(each, DoctorCheck)
    ]
    return tuple(sorted(found, key=lambda check: (_SECTIONS.index(check.section), check.name)))


def examine(machine: Host, workload: Workload | None = None, command: ServerCommand | None = None) -> Diagnosis:
    """Look at everything that means something on this machine, and compare its settings with what a workload wants.

    Variables that a command line sets count as those of the environment, and its arguments are judged.

    Without a GPU nothing is measured, so that nothing makes measurements wrong: what would be a failure is a warning.
    """
    if command is not None:
        workload = workload or command.workload
        machine = replace_fields(machine, environment={**machine.environment, **command.environment})
    chosen = [check for check in checks() if _means_something(check, machine)]
    outcomes = [check.outcome(machine) for check in chosen]
    works = _works(machine, {outcome.check: outcome for outcome in outcomes})
    settings = judged(machine, workload)
    arguments = judge_arguments(machine, command) if command is not None else []
    if not machine.has_gpu:
        outcomes = [replace(each, status="warn") if each.status == "fail" else each for each in outcomes]
        settings = [replace(each, status="warn") if each.status == "fail" else each for each in settings]
    return Diagnosis(
        kprof=__version__,
        gpus=[_named(gpu) for gpu in machine.gpus],
        reported=[gpu.words for gpu in machine.reported],
        checks=outcomes,
        left_out=[check.name for check in checks() if check.needs_gpu and check not in chosen],
        works=works,
        verdict=_verdict(
            machine, [*outcomes, *settings], works, [each for each in arguments if each.status != "unknown"]
        ),
        workload=workload or "",
        settings=settings,
        unseen=unseen(machine, workload) if command is None else [],
        arguments=arguments,
        unjudged=unjudged(command) if command is not None else [],
    )


def _means_something(check: DoctorCheck, machine: Host) -> bool:
    return (
        (machine.has_gpu or not check.needs_gpu)
        and (bool(machine.cuda_gpus) or not check.needs_cuda_gpu)
        and (bool(machine.reported) or not check.needs_report)
    )


def _named(gpu: HostGpu) -> str:
    arch = gpu.arch or "unknown architecture"
    return f"{gpu.product} ({arch})" if gpu.product else arch


def _works(machine: Host, found: dict[str, CheckOutcome]) -> dict[str, bool]:
    """What can be done: compiling needs Triton, running a GPU that can be used and torch for it."""

    def good(name: str) -> bool:
        return name in found and found[name].status != "fail"

    triton = good("triton") and found["triton"].status != "unknown" and "not installed" not in found["triton"].found
    torch = "torch" in found and found["torch"].status == "ok"
    works = {
        _READ: True,
        _COMPILE: triton,
        _RUN: triton and torch and bool(machine.gpus) and good("device-access"),
    }
    if machine.cuda_gpus and not machine.has_gpu:
        works[_CHECK] = triton and found["cuda-gpu"].status == "ok"
    return works


def _verdict(
    machine: Host,
    outcomes: list[CheckOutcome | SettingOutcome],
    works: dict[str, bool],
    arguments: list[SettingOutcome],
) -> DoctorVerdict:
    counts = Counter(outcome.status for outcome in [*outcomes, *arguments])
    words = [
        _plural(counts["fail"], "failure"),
        _plural(counts["warn"], "warning"),
        _plural(counts["unknown"], "unknown", ""),
    ]
    found = ", ".join(filter(None, words)) or "all is well"
    wrong = [outcome.name for outcome in arguments if outcome.status == "fail"]
    if wrong:
        return DoctorVerdict("fail", f"the command line is wrong ({', '.join(wrong)}): {found}")
    if counts["fail"]:
        return DoctorVerdict("fail", f"measurements here would be wrong or fail: {found}")
    if machine.has_gpu:
        return DoctorVerdict("ok", f"{'ready to measure' if works[_RUN] else 'kernels cannot be run yet'}: {found}")
    can = "compiling, analysing and modelling work" if works[_COMPILE] else "code and measurements can be read"
    checked = ", kernels can be checked on the CUDA GPU" if works.get(_CHECK) else ""
    return DoctorVerdict("ok", f"no AMD GPU here, {can}{checked}: {found}")


def _plural(count: int, noun: str, ending: str = "s") -> str:
    """``2 warnings``; nothing for none."""
    return f"{count} {noun}{'' if count == 1 else ending}" if count else ""
