"""The server for agents, through the official client."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.api.live import serving
from kprof.errors import KprofError
from kprof.options.tools import AgentOptions

mcp = pytest.importorskip("mcp", reason="the MCP SDK is not installed")
from mcp import ClientSession, StdioServerParameters  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402

TOOLS = ["analyze", "compare", "advise", "rank", "occupancy", "explain_rule", "kernels", "capture"]


def talk(folder: Path, what: Callable[[Any], Awaitable[Any]], *options: str) -> Any:
    """Start ``kprof serve mcp`` in a folder, and do something as its client."""

    async def client() -> Any:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "kprof", "serve", "mcp", "-j", "1", *options], cwd=folder
        )
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return await what(session)

    return asyncio.run(asyncio.wait_for(client(), 300))


def test_without_the_sdk(monkeypatch):
    """One sentence that says what to install; any other missing module is a mistake of ours."""
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "kprof.api.live.mcp_server", raising=False)
    monkeypatch.delattr("kprof.api.live.mcp_server", raising=False)
    with pytest.raises(KprofError, match="the MCP SDK is not installed") as missing:
        serving.serve(AgentOptions())
    assert missing.value.hint.startswith("pip install 'mcp>=")


def test_tools_have_schemas(tmp_path):
    """Each tool and each of its parameters that is no plain word says what it is, and what comes back."""
    tools = talk(tmp_path, lambda session: session.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert tool.description
        assert tool.output_schema["properties"]
        assert tool.input_schema["additionalProperties"] is False
        assert tool.annotations.read_only_hint is (tool.name != "capture")


def test_answers_without_triton(tmp_path):
    """Structured and as text; those of the command line."""
    asked = {"arch": "gfx942", "vgpr": 168, "lds": 32768, "num_warps": 4}

    async def questions(session):
        return await session.call_tool("occupancy", asked), await session.call_tool("explain_rule", {"rule": "KP301"})

    occupancy, rule = talk(tmp_path, questions)
    direct = kprof.occupancy(**asked)
    assert occupancy.content[0].text == direct.summary
    assert occupancy.structured_content["kernels"] == json.loads(direct.to_json())["kernels"]
    assert rule.content[0].text.startswith("KP301 spill-in-loop (warning)\n")


def test_what_it_refuses(tmp_path):
    """Each with a sentence for the model, and the server goes on."""
    (tmp_path / "k.py").write_text("raise SystemExit('this ran')\n")
    calls = [
        ("analyze", {"target": "/etc/passwd"}, "is outside the folders that this server reads"),
        ("analyze", {"target": "k.py"}, "this server does not run foreign code"),
        ("capture", {"program": ["true"], "output": "c"}, "this server runs no programs"),
        ("compare", {"target": "gemm", "old": {"jobs": 9}, "new": {}}, "compare does not take jobs"),
        (
            "analyze",
            {"target": "gemm", "num_warps": 8},
            "analyze does not take num_warps; it takes target, arch, config, ",
        ),
        ("kernels", {"b": 1, "a": 2}, "kernels does not take a, b; it takes arch"),
        ("no_such_tool", {"a": 2}, "no_such_tool"),
        ("occupancy", {"arch": "gfx9999", "vgpr": 1}, "gfx9999"),
        ("advise", {"target": "gemm", "budget": 1e9}, "less than or equal to 600"),
    ]

    async def questions(session):
        return [await session.call_tool(name, arguments) for name, arguments, _ in calls]

    for (_, _, words), answer in zip(calls, talk(tmp_path, questions), strict=True):
        assert answer.is_error
        assert words in answer.content[0].text
    assert not (tmp_path / "c").exists()


@pytest.mark.triton
@pytest.mark.slow
def test_an_agent_cures_the_spilling_attention(tmp_path):
    """With the tools alone: analyze tells the spills, advise a change, compare what it does to the compiled code."""
    kernel = {"target": "flash_attention", "case": "d256_s512", "arch": "MI300X"}
    spilling = {"BLOCK_M": 128, "BLOCK_N": 64}

    async def agent(session):
        before = await session.call_tool("analyze", {**kernel, "config": spilling})
        advice = await session.call_tool("advise", {**kernel, "config": spilling, "budget": 12})
        change = advice.structured_content["suggestions"][0]["change"]
        sides = {"old": {"config": spilling}, "new": {"config": {**spilling, **change}}}
        return before.structured_content, advice, (await session.call_tool("compare", {**kernel, **sides}))

    before, advice, after = talk(tmp_path, agent)
    (kernel_before,) = before["kernels"]
    assert kernel_before["vgpr_spills"] > 400
    assert "KP301" in [rule for told in kernel_before["causes"] for rule in (told["rule"], *told["same_cause"])]
    suggested = advice.structured_content["suggestions"][0]
    assert f"spilled VGPRs: {kernel_before['vgpr_spills']} to 0" in suggested["must_see"]
    assert "verify: spilled VGPRs" in advice.content[0].text
    changes = {change["metric"]: change for change in after.structured_content["changes"]}
    assert changes["vgpr_spills"]["new"] == 0
    assert after.structured_content["new_time"]["us"] < 0.5 * after.structured_content["old_time"]["us"]


@pytest.mark.triton
def test_cancelled_by_the_client(tmp_path):
    """The question is given up, and the only process answers the next one."""

    async def impatient(session):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(session.call_tool("advise", {"target": "gemm", "budget": 300}), 3)
        return await asyncio.wait_for(session.call_tool("explain_rule", {"rule": "KP204"}), 60)

    assert "full-drain" in talk(tmp_path, impatient).content[0].text


@pytest.mark.triton
def test_a_program_is_recorded_where_that_is_allowed(tmp_path):
    """The capture is a target of the other tools."""
    (tmp_path / "p.py").write_text(
        "import triton, triton.language as tl\n"
        "@triton.jit\ndef fill(out, N: tl.constexpr):\n    tl.store(out + tl.arange(0, N), 1.0)\n"
        "class Fake:\n    dtype = 'fp32'\n    def data_ptr(self): return 256\n"
        "fill[(4,)](Fake(), N=256)\n"
    )

    async def agent(session):
        recorded = await session.call_tool("capture", {"program": [sys.executable, "p.py"], "output": "c"})
        return recorded, await session.call_tool("analyze", {"target": "c"})

    recorded, analyzed = talk(tmp_path, agent, "--allow-run")
    assert not recorded.is_error, recorded.content[0].text
    assert [(one["name"], one["launches"]) for one in recorded.structured_content["kernels"]] == [("fill", 1)]
    assert analyzed.structured_content["kernels"][0]["grid"] == [4, 1, 1]
