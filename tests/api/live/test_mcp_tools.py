"""Tools of the server for agents answer as the command line does; an agent that has nothing else ranks a sweep."""

import json
import shutil

import pytest

import kprof
from tests.api.live.view.conftest import ASSEMBLY

pytest.importorskip("mcp", reason="the MCP SDK is not installed")
from tests.api.live.test_mcp import talk

# ROCm/gfx950-gluon-tutorials at 81a011da1cc0, kernels/gemm/gfx942/README.md: fp16, M N K 4096 4864 4160, microseconds.
BY_GROUP_M = {1: 267.8, 2: 269.1, 4: 264.8, 8: 265.2}
TILE = {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 64, "SPLIT_K": 1, "num_warps": 8}


def test_tools_that_compile_nothing(tmp_path):
    """analyze, compare, occupancy, explain_rule, kernels."""
    shutil.copy(ASSEMBLY, tmp_path / "k.amdgcn")
    asked = {
        "analyze": {"target": "k.amdgcn", "arch": "MI300X"},
        "compare": {"target": "k.amdgcn", "old": {"arch": "MI300X"}, "new": {"arch": "MI325X"}},
        "occupancy": {"arch": "MI300X", "vgpr": 168, "lds": 32768, "num_warps": 4},
        "explain_rule": {"rule": "KP204"},
        "kernels": {"arch": "gfx1100"},
    }

    async def questions(session):
        return {name: await session.call_tool(name, arguments) for name, arguments in asked.items()}

    answers = talk(tmp_path, questions)
    assert not [answer.content[0].text for answer in answers.values() if answer.is_error]
    told = {name: answer.structured_content for name, answer in answers.items()}
    (kernel,) = kprof.analyze(tmp_path / "k.amdgcn", arch="MI300X").kernels
    (answer,) = told["analyze"]["kernels"]
    assert (answer["name"], answer["vgprs"]) == (kernel.name, kernel.resources.vgpr)
    assert [(one["rule"], one["message"]) for one in answer["findings"]] == [
        (f.rule, f.message) for f in kernel.findings
    ]
    diff = kprof.diff(*(kprof.analyze(tmp_path / "k.amdgcn", arch=gpu) for gpu in ("MI300X", "MI325X")))
    assert told["compare"]["summary"] == diff.summary
    assert told["occupancy"]["kernels"] == json.loads(kprof.occupancy(**asked["occupancy"]).to_json())["kernels"]
    assert told["explain_rule"]["text"]
    assert {one["name"] for one in told["kernels"]["kernels"]} >= {"gemm", "flash_attention"}


@pytest.mark.triton
@pytest.mark.slow
def test_an_agent_picks_the_fastest_of_a_published_sweep(tmp_path):
    """By analyze alone: the order of workgroups that was measured as the fastest, or within 0.2 % of it."""
    shape = {"M": 4096, "N": 4864, "K": 4160}

    async def agent(session):
        times = {}
        for group in BY_GROUP_M:
            config = {**TILE, "GROUP_M": group}
            answer = await session.call_tool(
                "analyze", {"target": "gemm", "arch": "MI300X", "shape": shape, "config": config}
            )
            times[group] = answer.structured_content["kernels"][0]["time"]["us"]
        return times

    times = talk(tmp_path, agent)
    picked = min(times, key=times.get)
    assert BY_GROUP_M[picked] <= 1.002 * min(BY_GROUP_M.values())
    assert max(times.values()) > min(times.values())
