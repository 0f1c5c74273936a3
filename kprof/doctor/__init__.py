"""Check whether this machine is set up to compile, run and time kernels. Checks only read; they change nothing."""

from kprof.doctor.command_line import read_command
from kprof.doctor.document import SCHEMA, CheckOutcome, Diagnosis
from kprof.doctor.examine import checks, examine
from kprof.doctor.host import Host
from kprof.doctor.script import script
from kprof.doctor.settings import WORKLOADS, Workload

__all__ = [
    "SCHEMA",
    "WORKLOADS",
    "CheckOutcome",
    "Diagnosis",
    "Host",
    "Workload",
    "checks",
    "examine",
    "read_command",
    "script",
]
