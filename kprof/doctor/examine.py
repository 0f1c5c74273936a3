"""Run all checks on a machine, and rate the arguments of a command line."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace as replace_fields
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from msgspec.structs import replace

from kprof.doctor.check import DoctorCheck
from kprof.doctor.command_line import ServerCommand
from kprof.doctor.document import CheckOutcome, Diagnosis, DoctorVerdict, SettingOutcome, Status
from kprof.doctor.host import Host, HostGpu
from kprof.doctor.judging import judged, judged_setting, suggested, unseen, wanted_value
from kprof.doctor.settings import HostSetting, WantedValue, Workload, archs_of, settings
from kprof.version import __version__

_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_MAX_SHOWN_LENGTH = 60
_EVERY = {"gpu", "auto"}
_HOSTS = ("--hostfile", "-hostfile", "--machinefile", "--host", "-H")
_TOO_FEW = "A server cannot start on more GPUs than its process sees."
_OTHER_NUMBER = "On one node torchrun has to start a process for each GPU of the server's tensor parallelism."
_READ = "read assembly, code objects, caches, counters and traces"
_COMPILE = "compile kernels and model their time"
_RUN = "run kernels on the GPU"
_CHECK = "check kernels on the CUDA GPU"
_SECTIONS = ("software", "gpu", "host", "environment", "disk")


@cache
def checks() -> tuple[DoctorCheck, ...]:
    """Return all checks, sorted by section and name."""
    import kprof.doctor.checks as folder

    found = [
        each
        for module in iter_modules(folder.__path__)
        for each in vars(import_module(f"{folder.__name__}.{module.name}")).values()
        if isinstance(each, DoctorCheck)
    ]
    return tuple(sorted(found, key=lambda check: (_SECTIONS.index(check.section), check.name)))


def examine(machine: Host, workload: Workload | None = None, command: ServerCommand | None = None) -> Diagnosis:
    """Run every check that is relevant on this machine, and compare its settings with those of a workload.

    Variables that a command line sets are treated like environment variables, and its arguments are rated. On a machine
    without a GPU, failures become warnings, because no measurement can be wrong.
    """
    if command is not None:
        workload = workload or command.workload
        machine = replace_fields(machine, environment={**machine.environment, **command.environment})
    chosen = [check for check in checks() if _is_relevant(check, machine)]
    outcomes = [check.outcome(machine) for check in chosen]
    works = _possible_activities(machine, {outcome.check: outcome for outcome in outcomes})
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


def _is_relevant(check: DoctorCheck, machine: Host) -> bool:
    return (
        (machine.has_gpu or not check.needs_gpu)
        and (bool(machine.cuda_gpus) or not check.needs_cuda_gpu)
        and (bool(machine.reported) or not check.needs_report)
    )


def _named(gpu: HostGpu) -> str:
    arch = gpu.arch or "unknown architecture"
    return f"{gpu.product} ({arch})" if gpu.product else arch


def _possible_activities(machine: Host, found: dict[str, CheckOutcome]) -> dict[str, bool]:
    """Return whether each activity is possible.

    To run kernels, Triton, a usable GPU and a matching torch are needed.
    """

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
    """Return a count with its noun, ``2 warnings``, or "" for 0."""
    return f"{count} {noun}{'' if count == 1 else ending}" if count else ""


def judge_arguments(machine: Host, command: ServerCommand) -> list[SettingOutcome]:
    """Rate every argument that the guides mention, whether or not it is on the command line."""
    found = []
    values = {**machine.environment, **command.arguments}
    for setting in settings().values():
        if setting.kind != "argument" or (setting.programs and not set(setting.programs) & set(command.programs)):
            continue
        rule = setting.rule(command.workload, archs_of(machine), values)
        given = command.arguments.get(setting.name)
        if rule is None or (given is None and _good_by_default(setting, rule)):
            continue
        found.append(_judged(setting, rule, given))
    return [*found, *_compare_counts(machine, command)]


def unjudged(command: ServerCommand) -> list[str]:
    """Return arguments that the guides do not mention."""
    known = {"-np", *(setting.name for setting in settings().values() if setting.kind == "argument")}
    return [name for name in command.arguments if name not in known]


def _good_by_default(setting: HostSetting, rule: WantedValue) -> bool:
    """Return whether an argument that is not on the command line has the value that the rule recommends."""
    default = setting.default_of(rule)
    return not rule.value or (default is not None and rule.accepts(default))


def _judged(setting: HostSetting, rule: WantedValue, given: str | None) -> SettingOutcome:
    if given is None:
        return judged_setting(setting, "unknown", "not given, may help", suggested(setting, rule))
    if given == setting.default_of(rule) and not _good_by_default(setting, rule):
        # An explicit default is treated like a missing argument.
        found = f"{given[:_MAX_SHOWN_LENGTH]}, the default; another value may help"
        return judged_setting(setting, "unknown", found, suggested(setting, rule))
    shown = given[:_MAX_SHOWN_LENGTH] if given else "given"
    if given.startswith("$"):
        return judged_setting(setting, "unknown", f"{shown}, whose value is not in the line", wanted_value(rule))
    good = bool(rule.value) and (rule.accepts(given) or (rule.value == "given" and not given))
    return judged_setting(setting, "ok" if good else setting.bad, shown, wanted_value(rule), list(setting.fix))


def _compare_counts(machine: Host, command: ServerCommand) -> Iterator[SettingOutcome]:
    """Compare the number of processes on a command line with the number of GPUs, which must agree."""
    given = command.arguments
    parallel = _number(given.get("--tensor-parallel-size"))
    visible = _visible(machine.environment)
    if visible is not None and parallel is not None and visible[1] < parallel:
        wanted = f"at most {visible[1]}, the GPUs in {visible[0]}"
        yield _count("--tensor-parallel-size", "fail", str(parallel), wanted, _TOO_FEW)
    option = "-np" if "mpirun" in command.programs else "--nproc-per-node"
    processes = given.get(option)
    number = _number(processes)
    if processes is None or any(each in given for each in _HOSTS) or given.get("--nnodes", "1") != "1":
        return
    if parallel is not None:
        if number not in {None, parallel}:
            yield _count(option, "fail", processes, f"{parallel}, as --tensor-parallel-size", _OTHER_NUMBER)
        return
    gpus = visible[1] if visible is not None else len(machine.reported) or len(machine.devices)
    if processes in _EVERY or (gpus and number == gpus):
        yield _count(option, "ok", processes, str(gpus or ""))
    elif number is None or not gpus:
        yield _count(option, "unknown", processes, "as many as GPUs")
    else:
        yield _count(option, "warn", processes, f"{gpus}, a process for each GPU")


def _count(name: str, status: Status, found: str, wanted: str, why: str = "") -> SettingOutcome:
    setting = settings()["--nproc-per-node"]
    return SettingOutcome(
        name, "argument", status, found[:_MAX_SHOWN_LENGTH], wanted, why or setting.why, [], setting.source
    )


def _visible(environment: Mapping[str, str]) -> tuple[str, int] | None:
    """Return the environment variable that lists GPUs, and its number of entries; ``None`` if none is set."""
    for name in _VISIBLE:
        value = environment.get(name, "").strip().strip("\"'")
        if re.fullmatch(r"\d+(?:,\d+)*", value):
            return name, value.count(",") + 1
    return None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 8 else None
