"""Where a finding's link leads: the lines of the assembly with the instructions that it is about."""

from dataclasses import dataclass
from typing import Any

from kprof.api.live.listings import kernel_of


@dataclass(frozen=True)
class Landing:
    """Lines of the assembly, in order; empty where a finding is about the launch or the kernel as a whole."""

    lines: list[int]


def landing(
    target: str,
    rule: str,
    file: str | None = None,
    line: int | None = None,
    loop: str | None = None,
    cause: str | None = None,
    kernel: int = 0,
    **options: Any,
) -> Landing:
    """The instructions that a finding is about.

    Args:
        target: as for :func:`kprof.analyze`.
        rule: the finding's.
        file: its location's, as the report has it.
        line: its location's.
        loop: label of the loop that its evidence names.
        cause: what its evidence says that the time goes to.
        kernel: position among the target's kernels.
        options: how it is compiled, as for :func:`kprof.analyze`.

    Raises:
        TargetError: there is no such kernel.
        KprofError: as :func:`kprof.analyze`.
    """
    from kprof_analyzers.rules.finding_instructions import Subject, instructions_of

    program = kernel_of(target, kernel, **options).program
    found = instructions_of(program, Subject(rule, file, line, loop, cause))
    return Landing([program.instructions[at].line for at in found])
