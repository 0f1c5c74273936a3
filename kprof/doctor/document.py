"""What the examination of a machine says: schema ``kprof.doctor/1``."""

from typing import Literal

import msgspec

SCHEMA: Literal["kprof.doctor/1"] = "kprof.doctor/1"

Status = Literal["ok", "warn", "fail", "unknown"]


class CheckOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one check found.

    Attributes:
        check: its name: ``numa-balancing``.
        section: ``software``, ``gpu``, ``host``, ``environment`` or ``disk``.
        status: ``fail`` makes measurements wrong or impossible, ``warn`` may make them worse, ``unknown`` could not be
            determined and is no ``ok``.
        found: what is there, in a few words.
        why: why it matters; absent where all is well.
        fix: commands, in their order, or what else to do.
        source: whose advice it is, where it is not kprof's own.
    """

    check: str
    section: str
    status: Status
    found: str
    why: str = ""
    fix: list[str] = []
    source: str = ""


class SettingOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one setting of the guides stands.

    Attributes:
        name: of the variable, parameter, file or library.
        kind: what it is.
        status: as of a check; what is neither required nor set is ``ok``.
        found: its value, or ``not set``.
        wanted: the value for this workload and GPU; absent where none is wanted.
        why: what it does, one sentence.
        fix: commands, in their order.
        source: whose advice it is.
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
    """The last line.

    Attributes:
        status: ``ok`` (exit 0) or ``fail`` (1): something makes measurements wrong.
        summary: one line.
    """

    status: Literal["ok", "fail"]
    summary: str


class Diagnosis(msgspec.Struct, frozen=True):
    """The whole document.

    Attributes:
        kprof: version of kprof.
        gpus: AMD GPUs that the driver lists: product where it is known, and architecture.
        checks: outcomes by section.
        left_out: checks that mean nothing without a GPU, on a machine that has none.
        works: what can be done here as it is.
        verdict: the result as a whole.
        workload: what the settings were asked for, absent when nothing was named.
        settings: outcomes of the settings that have no check of their own.
        unseen: what the workload wants besides, as arguments of a program, where no command line is given:
            ``unknown``, and part of no verdict.
        reported: GPUs in the output of rocminfo or amd-smi that was given.
        arguments: outcomes of a command line's arguments, and of those that are to be tried (``unknown``).
        unjudged: arguments that the guides say nothing about.
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
