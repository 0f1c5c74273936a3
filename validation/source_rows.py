"""Rows of ``validation/sources.toml``: the output that a command must print, and that its control must not print."""

import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kprof.inputs.boundary import toml_of

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("sources.toml")
STATES = ("works", "partly", "not")
# Reasons why a row does not work fully, and how the page counts them.
LACKS = {"gpu": "an AMD GPU", "fact": "a fact that the document does not give", "": "something else"}
TITLES = {
    "xlstm": "AMD xLSTM Optimization",
    "kernels": "AMD Perf Kernels",
    "custom": "Creating custom kernels for the AMD MI300",
    "attention": "Flash Attention Kernel Benchmark Report",
    "guide": "AMD Instinct MI300X workload optimization",
}
_LONGEST = 110
# Exit codes from here on mean that a command could not do its work.
_FAILED = 2
# Commands whose second word is also a command.
_GROUPS = ("analyze", "counters", "draw", "ingest", "list", "trace")


@dataclass(frozen=True)
class Row:
    """A row of the page.

    Attributes:
        document: Key of :data:`TITLES`.
        what: System, tool, variable, table or number of the document, in a few words.
        command: Command that was run, or "" where nothing can be run.
        printed: Part of the output that shows it.
        state: One of :data:`STATES`.
        why: Reason why the row works partly or not, or a remark.
        lacks: Key of :data:`LACKS`.
    """

    document: str
    what: str
    command: str
    printed: str
    state: str
    why: str
    lacks: str = ""


@dataclass(frozen=True)
class Entry:
    """A row of the table.

    Attributes:
        row: The row of the page, before its command has run.
        pattern: Pattern that the output of ``run`` must contain; the page quotes its group.
        run: Command with ``{made}`` and ``{root}`` for folders, or "".
        control: The same command on another input, whose output must not contain the pattern.
        no_control: Reason why no other input exists, or "".
    """

    row: Row
    pattern: str
    run: str
    control: str
    no_control: str


def entries(table: Path) -> Iterator[Entry]:
    """Return the rows of a table with the command and the control of their group or of their own."""
    for group in toml_of(table.read_text(encoding="utf-8"), str(table))["group"]:
        command = group.get("run", "")
        for document, what, pattern, state, *rest in group["rows"]:
            own: dict[str, Any] = rest.pop() if rest and isinstance(rest[-1], dict) else {}
            name, _, lacks = state.partition(": ")
            row = Row(document, what, _without_folders(command), "", name, " ".join(rest), lacks)
            control = own.get("control", group.get("control", ""))
            yield Entry(row, pattern, command, control, own.get("no_control", ""))


def run(command: str, folder: Path) -> str:
    """Return what a kprof command prints; ``NAME=VALUE`` may precede it, and ``{made}`` stands for the folder."""
    from kprof.cli.app import main

    words = shlex.split(command.replace("{made}", str(folder)).replace("{root}", str(ROOT)))
    first = words.index("kprof")
    variables = dict(word.split("=", 1) for word in words[:first])
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with (
        patch.dict(os.environ, {**variables, "COLUMNS": "200"}),
        patch.object(sys, "argv", ["kprof", *words[first + 1 :]]),
        redirect_stdout(printed),
        redirect_stderr(printed),
    ):
        try:
            main()
        except SystemExit as stop:
            printed.write(f"\nexit code {stop.code or 0}\n")
    printed.seek(0)
    return printed.read()


class Outputs:
    """Outputs of commands, each of which runs once.

    Args:
        folder: Folder of the example files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._printed: dict[str, str] = {}

    def of(self, command: str) -> str:
        """Return the output of a command."""
        if command not in self._printed:
            self._printed[command] = run(command, self.folder)
        return self._printed[command]

    def find(self, command: str, pattern: str) -> str | None:
        """Return the part of a command's output that a pattern matches, or ``None``."""
        return shown(self.of(command), pattern, self.folder)

    def problem(self, entry: Entry) -> str | None:
        """Return what is wrong with a row: its pattern does not match, or it matches the control; else ``None``."""
        what = f"{entry.run}: {entry.row.what!r}"
        if not entry.run:
            return None
        if self.find(entry.run, entry.pattern) is None:
            return f"{what}: no {entry.pattern!r} in\n{self.of(entry.run)[-1500:]}"
        if not entry.control:
            return None if entry.no_control else f"{what}: no control, and no reason why"
        if entry.control == entry.run or _subcommand(entry.control) != _subcommand(entry.run):
            return f"{what}: the control has to be the same command on another input, got {entry.control}"
        if _failed(self.of(entry.control)):
            return f"{what}: the control fails: {entry.control}\n{self.of(entry.control)[-500:]}"
        found = self.find(entry.control, entry.pattern)
        if found is not None:
            return f"{what}: {entry.pattern!r} also matches the control {entry.control}: {found}"
        return None


def shown(output: str, pattern: str, folder: Path) -> str | None:
    """Return the part of an output that a pattern matches, or its group; ``None`` without a match."""
    match = re.search(pattern, output, re.MULTILINE)
    if match is None:
        return None
    text = " ".join((match[1] if match.lastindex else match[0]).split())
    return text.replace(f"{folder}/", "").replace(f"{ROOT}/", "")[:_LONGEST]


def _subcommand(command: str) -> list[str]:
    words = shlex.split(command)
    words = words[words.index("kprof") + 1 :]
    return words[: 2 if words[0] in _GROUPS else 1]


def _failed(output: str) -> bool:
    code = re.search(r"^exit code (\d+)$", output, re.MULTILINE)
    return code is not None and int(code[1]) >= _FAILED


def _without_folders(command: str) -> str:
    return command.replace("{made}/", "").replace("{root}/", "")
