"""Judge the arguments of a command line by ``settings.toml``, and by each other."""

import re
from collections.abc import Iterator, Mapping

from kprof.doctor.command_line import ServerCommand
from kprof.doctor.document import SettingOutcome, Status
from kprof.doctor.host import Host
from kprof.doctor.judging import judged_setting, suggested, wanted_value
from kprof.doctor.settings import HostSetting, WantedValue, archs_of, settings

_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_SHOWN = 60
_EVERY = {"gpu", "auto"}
_HOSTS = ("--hostfile", "-hostfile", "--machinefile", "--host", "-H")
_TOO_FEW = "A server cannot start on more GPUs than its process sees."
_OTHER_NUMBER = "On one node torchrun has to start a process for each GPU of the server's tensor parallelism."


def judge_arguments(machine: Host, command: ServerCommand) -> list[SettingOutcome]:
    """Every argument that the guides say something about, given or not."""
    found = []
    values = {**machine.environment, **command.arguments}
    for setting in settings().values():
        if setting.kind != "argument" or (setting.programs and not set(setting.programs) & set(command.programs)):
            continue
        rule = setting.rule(command.workload, archs_of(machine), values)
        given = command.arguments.get(setting.name)
        if rule is None or (given is None and (setting.default is not None or not rule.value)):
            continue
        found.append(_judged(setting, rule, given))
    return [*found, *_counts(machine, command)]


def unjudged(command: ServerCommand) -> list[str]:
    """Arguments that the guides say nothing about."""
    known = {"-np", *(setting.name for setting in settings().values() if setting.kind == "argument")}
    return [name for name in command.arguments if name not in known]


def _judged(setting: HostSetting, rule: WantedValue, given: str | None) -> SettingOutcome:
    if given is None:
        return judged_setting(setting, "unknown", "not given, may help", suggested(setting, rule))
    shown = given[:_SHOWN] if given else "given"
    if given.startswith("$"):
        return judged_setting(setting, "unknown", f"{shown}, whose value is not in the line", wanted_value(rule))
    good = bool(rule.value) and (rule.accepts(given) or (rule.value == "given" and not given))
    return judged_setting(setting, "ok" if good else setting.bad, shown, wanted_value(rule), list(setting.fix))


def _counts(machine: Host, command: ServerCommand) -> Iterator[SettingOutcome]:
    """Processes and GPUs of a line, which must agree."""
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
    return SettingOutcome(name, "argument", status, found[:_SHOWN], wanted, why or setting.why, [], setting.source)


def _visible(environment: Mapping[str, str]) -> tuple[str, int] | None:
    """The variable that chooses GPUs, and how many it lists; ``None`` where none does, or its value is no list."""
    for name in _VISIBLE:
        value = environment.get(name, "").strip().strip("\"'")
        if re.fullmatch(r"\d+(?:,\d+)*", value):
            return name, value.count(",") + 1
    return None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 8 else None
