"""Document of ``kprof doctor``: schema ``kprof.doctor/1``."""

from typing import Literal

import msgspec

SCHEMA: Literal["kprof.doctor/1"] = "kprof.doctor/1"

Status = Literal["ok", "warn", "fail", "unknown"]


class CheckOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """Result of one check.

    Attributes:
        check: name of the check: ``numa-balancing``.
        section: ``software``, ``gpu``, ``host``, ``environment`` or ``disk``.
        status: ``fail``: measurements are wrong or impossible; ``warn``: they may be worse; ``unknown``: could not be
            determined, which is not ``ok``.
        found: the current state, in a few words.
        why: why it matters; absent if the check passed.
        fix: commands that change the state, in order, or other actions.
        source: guide or document that the advice comes from, if it is not kprof's own advice.
    """

    check: str
    section: str
    status: Status
    found: str
    why: str = ""
    fix: list[str] = []
    source: str = ""


class SettingOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """State of one setting that AMD's guides mention.

    Attributes:
        name: name of the variable, parameter, file or library.
        kind: kind of setting.
        status: as for a check; a setting that is neither required nor set is ``ok``.
        found: its value, or ``not set``.
        wanted: recommended value for this workload and GPU; absent if there is none.
        why: effect of the setting, one sentence.
        fix: commands that change the setting, in order.
        source: origin of the advice.
    """

    name: str
    kind: Literal["environment", "kernel parameter", "sysfs", "library", "argument"]
    status: Status
    found: str
    wanted: str = ""
    why: str = ""
    fix: list[str] = []
    source: str = ""


class DoctorVerdict(msgspec.Struct, frozen=True):
    """The overall result.

    Attributes:
        status: ``ok`` (exit 0), or ``fail`` (exit 1): something makes measurements wrong.
        summary: one line.
    """

    status: Literal["ok", "fail"]
    summary: str


class Diagnosis(msgspec.Struct, frozen=True):
    """The whole document.

    Attributes:
        kprof: version of kprof.
        gpus: AMD GPUs that the driver lists: product, if known, and architecture.
        checks: results by section.
        left_out: checks that were skipped because the machine has no GPU.
        works: by activity, whether it is possible on this machine as it is.
        verdict: the result as a whole.
        workload: workload that the settings were checked for; absent if none was named.
        settings: results for settings without a check of their own.
        unseen: arguments that the guides recommend for the workload, if no command line was passed. Their status is
            ``unknown``, and the verdict ignores them.
        reported: GPUs in the passed output of rocminfo or amd-smi.
        arguments: results for the arguments on a command line, and for missing arguments worth trying (with status
            ``unknown``).
        unjudged: arguments on the command line that the guides do not mention.
        schema: always ``kprof.doctor/1``.
    """

    kprof: str
    gpus: list[str]
    checks: list[CheckOutcome]
    left_out: list[str]
    works: dict[str, bool]
    verdict: DoctorVerdict
    workload: str = ""
    settings: list[SettingOutcome] = []
    unseen: list[SettingOutcome] = []
    reported: list[str] = []
    arguments: list[SettingOutcome] = []
    unjudged: list[str] = []
    schema: Literal["kprof.doctor/1"] = SCHEMA
