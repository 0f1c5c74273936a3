"""Run a command again with the Triton that ``--triton`` names."""

import sys
from collections.abc import Mapping
from typing import Any

import typer

from kprof.cli._programs import program_of
from kprof.errors import KprofError
from kprof.options.groups import TritonOptions

_RECOMPILES = ("advise", "tune")
"""Commands that compile captures again."""
_RUNS_PROGRAMS = "capture"
"""Command whose arguments are a program, with or without ``--`` before the program."""


def run_again(options: TritonOptions, given: Mapping[str, Any]) -> None:
    """If a Triton is named, run the command in a process that imports it, and exit with its exit code.

    Raises:
        KprofError: several Tritons are named, one cannot be installed, or a target is missing or compiled already.
        typer.Exit: the command ran in the other process.
    """
    command = sys.argv[1]
    name = options.one_triton(f"kprof {command}")
    if not name:
        return
    from kprof.api.other_triton import check_target, run_with_triton

    words, after = _halves(sys.argv[1:])
    if "target" in given and given["target"] is None:
        raise KprofError("--triton needs a target to compile")
    one = [given[name] for name in ("target", "kernel") if isinstance(given.get(name), str)]
    named, arguments = program_of(list(given.get("targets") or given.get("program") or one))
    program = after if arguments is None else None
    if command == _RUNS_PROGRAMS and after is None:
        # Without ``--``, the words after the options are the program.
        program, words = named, words[: len(words) - len(named)]
    if program is None:
        for target in named:
            check_target(target, recompiled=command in _RECOMPILES)
    words = _without_triton(words)
    if arguments is not None:
        words += ["--", *arguments]
    raise typer.Exit(run_with_triton(name, __name__, words, program))


def _halves(words: list[str]) -> tuple[list[str], list[str] | None]:
    """Return the words before and after ``--``; the second list is ``None`` if there is no ``--``."""
    end = words.index("--") if "--" in words else len(words)
    return words[:end], words[end + 1 :] if end < len(words) else None


def _without_triton(words: list[str]) -> list[str]:
    """Return a command line without ``--triton`` and its value."""
    kept, rest = [], iter(words)
    for word in rest:
        if word in {"--triton", "-t"}:
            next(rest, None)
        elif not word.startswith("--triton=") and not (word.startswith("-t") and not word.startswith("--")):
            kept.append(word)
    return kept


def main() -> None:
    """Entry point of the process that imports the named Triton: run the command."""
    from kprof.api.other_triton import begin

    sys.argv = ["kprof", *begin()]
    from kprof.cli.app import main as command

    command()
