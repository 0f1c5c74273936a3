"""Parse a program and its arguments after ``--`` on the command line."""

import sys

from kprof.errors import TargetError


def program_of(arguments: list[str]) -> tuple[list[str], list[str] | None]:
    """Split arguments into targets, and the program's arguments after ``--``.

    If no target precedes ``--``, return all arguments and ``None``.
    """
    if "--" not in sys.argv:
        return arguments, None
    count = len(sys.argv) - sys.argv.index("--") - 1
    if count >= len(arguments):
        # Only options precede ``--``, so it marks the end of the options, as for any command.
        return arguments, None
    return arguments[: len(arguments) - count], arguments[len(arguments) - count :]


def one_target(arguments: list[str]) -> tuple[str | None, list[str] | None]:
    """Return the named target, if any, and the words after ``--``, if any.

    The words are a program's arguments if a target is named, else the program's whole command.

    Raises:
        TargetError: several targets are named, or neither a target nor a program.
    """
    named, program = program_of(arguments)
    if "--" in sys.argv and program is None and len(named) > 1:
        # Only options precede ``--``, so the words after it are a program's command.
        named, program = [], named
    if len(named) > 1 or (program is None and not named):
        raise TargetError("name exactly one kernel, capture or program")
    return (named[0] if named else None), program
