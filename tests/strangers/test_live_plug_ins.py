"""A plug-in that raises while judging, where kprof stays up: sessions, agents, a watch."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.strangers.test_plug_ins import BROKEN, plug_in

TOLD = "the analyzer shaky.Shaky failed: RuntimeError: out of luck (shaky.py:4)"
SESSION = """
import json
from kprof.api.live.session import Session

with Session(jobs=1) as session:
    analyzed = session.ask("analyze", target="k.amdgcn")
    report = session.ask("report", target="k.amdgcn")
    compared = session.submit("compare", target="k.amdgcn", old={}, new={}).result()
    occupancy = session.ask("occupancy", arch="gfx942", vgpr=128, num_warps=4)
print(json.dumps([analyzed, report, compared, occupancy]))
"""
AGENT = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def client():
    import os
    command = ["-m", "kprof", "serve", "mcp", "-j", "1"]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        first = await session.call_tool("analyze", {"target": "k.amdgcn"})
        second = await session.call_tool("occupancy", {"arch": "gfx942", "vgpr": 128, "num_warps": 4})
        return [[one.is_error, one.structured_content] for one in (first, second)]

print(json.dumps(asyncio.run(asyncio.wait_for(client(), 120))))
"""
ADVICE = """
from kprof.api.live.session import Session

with Session(jobs=1) as session:
    print(session.ask("advise", target="softmax", arch="gfx942", budget=3.0)["failures"])
"""


@pytest.fixture
def raising(copy):
    """A copy with the plug-in, and what there is without it."""
    copy.write_kernel()
    (sound,) = copy.analysed()["kernels"]
    plug_in(copy, BROKEN["judging"][0])
    return copy, sound


def rules_of(kernel):
    """The rules of a kernel's causes and of what follows from them, once each."""
    return sorted({rule for cause in kernel["causes"] for rule in (cause["rule"], *cause["same_cause"])})


def test_a_session_names_it_once_and_goes_on(raising):
    """In the summary of each answer that it has a part in; findings are those without it."""
    copy, sound = raising
    analyzed, report, compared, occupancy = json.loads(copy.python("-c", SESSION).stdout)
    assert analyzed["summary"].count(TOLD) == 1
    (kernel,) = analyzed["kernels"]
    assert rules_of(kernel) == sorted({f["rule"] for f in sound["findings"]})
    assert report["verdict"]["summary"].count(TOLD) == 1
    assert report["kernels"][0]["findings"] == sound["findings"]
    assert compared["status"] == "cannot_tell"
    assert compared["summary"].count(TOLD) == 1
    assert TOLD not in str(occupancy)


@pytest.mark.triton
@pytest.mark.slow
def test_a_session_s_advice_names_it_once(raising):
    copy, _ = raising
    assert copy.python("-c", ADVICE).stdout.strip() == str([TOLD])


def test_an_agent_is_told_once(raising):
    """The tool has its answer, no error, and so has the next."""
    pytest.importorskip("mcp", reason="the MCP SDK is not installed")
    copy, sound = raising
    (failed, analyzed), (also, occupancy) = json.loads(copy.python("-c", AGENT).stdout)
    assert not failed
    assert not also
    assert analyzed["summary"].count(TOLD) == 1
    assert rules_of(analyzed["kernels"][0]) == sorted({f["rule"] for f in sound["findings"]})
    assert TOLD not in str(occupancy)


def test_a_watch_names_it_and_waits_for_the_next_save(raising):
    """The screen is there, with the message once."""
    copy, _ = raising
    paths = os.pathsep.join(
        map(str, (copy.root, copy.root / "analyzers", copy.root / "servers", copy.folder / "plugins"))
    )
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "kprof", "analyze", "k.amdgcn", "--watch"],
        cwd=copy.folder,
        env={**os.environ, "PYTHONPATH": paths, "KPROF_CACHE_DIR": str(copy.folder / "cache"), "COLUMNS": "160"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where tests are run in the background the signal is ignored, and processes inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - one thread
    ) as watching:
        assert watching.stdout is not None
        shown = []
        for line in watching.stdout:
            shown.append(line)
            if "waiting for the next save" in line:
                break
        watching.send_signal(signal.SIGINT)
        try:
            _, errors = watching.communicate(timeout=60)
        finally:
            watching.kill()
    text = "".join(shown)
    assert text.count("shaky.Shaky") == 1, text
    assert "gfx942" in text
    assert "Traceback" not in errors
    assert watching.returncode == 0
