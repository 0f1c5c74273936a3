"""Configurations that users paste into editors and agents start commands that exist."""

import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def started():
    """Command lines of services in the pages, each with its page."""
    agents, editor = ((DOCS / name).read_text() for name in ("agents.md", "editor.md"))
    for block in re.findall(r"```json\n(\{\"mcpServers\".*?)```", agents, re.DOTALL):
        (server,) = json.loads(block)["mcpServers"].values()
        yield "agents.md", [server["command"], *server["args"]]
    for block in re.findall(r"cmd = \{(.*?)\}", editor):
        yield "editor.md", re.findall(r'"(.*?)"', block)
    for command, args in re.findall(r'command = "(\w+)"\nargs = \[(.*?)\]', editor):
        yield "editor.md", [command, *re.findall(r'"(.*?)"', args)]


def test_they_name_commands_that_there_are(kprof):
    found = list(started())
    assert [page for page, _ in found] == ["agents.md", "editor.md", "editor.md"]
    for _, (program, *words) in found:
        assert program == "kprof"
        assert kprof(*words, "--help").code == 0


@pytest.mark.parametrize(("what", "who"), [("mcp", "an agent"), ("lsp", "an editor")])
def test_a_person_who_starts_one_is_told_what_it_waits_for(what, who):
    """On a terminal alone: what an editor or an agent starts says nothing of its own."""
    pytest.importorskip("mcp" if what == "mcp" else "pygls")
    ours, theirs = pty.openpty()
    service = subprocess.Popen(
        [sys.executable, "-m", "kprof", "serve", what], stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs
    )
    try:
        text = b""
        while b"ends it" not in text and select.select([ours], [], [], 60)[0]:
            text += os.read(ours, 4096)
        assert f"waiting for {who}".encode() in text
    finally:
        service.kill()
        service.wait()
        os.close(ours)
        os.close(theirs)
