"""A Python program on a command line: what stands after ``--``."""

import sys

from kprof.errors import TargetError


def program_of(arguments: list[str]) -> tuple[list[str], list[str] | None]:
    """The targets, and the arguments of the program that they are run as: those after ``--``, ``None`` without it."""
    if "--" not in sys.argv:
        return arguments, None
    count = len(sys.argv) - sys.argv.index("--") - 1
    if count >= len(arguments):
        # Before it there are options only: it ends them, as for any command.
        return arguments, None
    return arguments[: len(arguments) - count], arguments[len(arguments) - count :]


def one_target(arguments: list[str]) -> tuple[str | None, list[str] | None]:
    """The only target, and the program that it is run as: its arguments, or without a target its command.

    Raises:
        TargetError: there are several targets, or none.
    """
    named, program = program_of(arguments)
    if "--" in sys.argv and program is None and len(named) > 1:
        # Nothing but options before it: a command line.
        named, program = [], named
    if len(named) > 1 or (program is None and not named):
        raise TargetError("one kernel, capture or program at a time")
    return (named[0] if named else None), program
