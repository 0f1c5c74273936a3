"""Run a command again with the Triton that ``--triton`` names."""

import sys
from collections.abc import Mapping
from typing import Any

import typer

from kprof.cli._programs import program_of
from kprof.errors import KprofError
from kprof.options.groups import TritonOptions

_RECOMPILES = frozenset({"advise"})
_RUN_PROGRAMS = frozenset({"capture", "profile"})


def run_again(options: TritonOptions, given: Mapping[str, Any]) -> None:
    """End this command with what the same one says in a process that imports the Triton that is named, if one is.

    Raises:
        KprofError: several are named, a target is compiled already, or the Triton cannot be had.
        typer.Exit: it ran.
    """
    command = sys.argv[1]
    name = options.one_triton(f"kprof {command}")
    if not name:
        return
    from kprof.api.other_triton import check_target, run_with_triton

    words, program = _without(sys.argv[1:])
    arguments = given.get("targets") or given.get("program") or []
    named, after = program_of(list(arguments))
    is_command = command in _RUN_PROGRAMS or (after is None and program is not None)
    if program is None or not is_command:
        for target in named:
            check_target(target, recompiled=command in _RECOMPILES)
    if program is not None and not is_command:
        words, program = [*words, "--", *program], None
    elif program is None and command in _RUN_PROGRAMS:
        raise KprofError("no program is named", hint=f"kprof {command} --triton {name} -- python program.py")
    raise typer.Exit(run_with_triton(name, __name__, words, program))


def _without(words: list[str]) -> tuple[list[str], list[str] | None]:
    """A command line without ``--triton`` and its value, and the words after ``--``; ``None`` without those."""
    end = words.index("--") if "--" in words else len(words)
    kept, rest = [], iter(words[:end])
    for word in rest:
        if word in {"--triton", "-t"}:
            next(rest, None)
        elif not word.startswith("--triton=") and not (word.startswith("-t") and not word.startswith("--")):
            kept.append(word)
    return kept, words[end + 1 :] if end < len(words) else None


def main() -> None:
    """Run the command in the process that imports the Triton."""
    from kprof.api.other_triton import begin

    sys.argv = ["kprof", *begin()]
    from kprof.cli.app import main as command

    command()
