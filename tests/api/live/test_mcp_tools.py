"""Tools of the server for agents answer as the command line does; an agent that has nothing else ranks a sweep."""

import json
import shutil
import sys

import pytest

import kprof
from kprof.captures.reader import read
from kprof.reporters.answer import cause_text
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
    assert [(one["rule"], one["message"], one["cost"], one["todo"]) for one in answer["causes"]] == [
        (text.finding.rule, text.message, text.cost, text.todo)
        for text in (cause_text(kernel, cause) for cause in kernel.causes)
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


PROGRAM = """
import torch, triton, triton.language as tl

@triton.jit
def double(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)

x = torch.zeros(4096, device="cuda")
double[(4,)](x, BLOCK=1024)
double[(8,)](x, BLOCK=512)
"""


@pytest.mark.triton
def test_tools_that_search_and_record(tmp_path):
    """advise, rank and capture; each search small enough to come to its end within the budget."""
    pytest.importorskip("torch")
    (tmp_path / "program.py").write_text(PROGRAM)
    kernel = {"target": "memory_write", "arch": "MI300X", "case": "mib64"}
    held = {"num_stages": 2, "waves_per_eu": 0, "TILES": 1}
    asked = {
        "advise": {**kernel, "budget": 120},
        "rank": {**kernel, "config": held, "budget": 120, "short_list": 3},
        "capture": {"program": [sys.executable, "program.py"], "output": "recorded", "arch": "MI300X"},
    }

    async def questions(session):
        return {name: await session.call_tool(name, arguments) for name, arguments in asked.items()}

    answers = talk(tmp_path, questions, "--allow-run")
    assert not [answer.content[0].text for answer in answers.values() if answer.is_error]
    told = {name: answer.structured_content for name, answer in answers.items()}

    found = kprof.advise(**asked["advise"], jobs=1)
    assert found.trials is not None
    assert (found.trials.tried, found.trials.left) == (told["advise"]["tried"], told["advise"]["left"])
    assert told["advise"]["summary"] == found.summary
    assert [one["config"] for one in told["advise"]["suggestions"]] == [dict(trial.config) for trial in found.best]

    tuned = kprof.tune("memory_write", case="mib64", config=held, budget=120, short_list=3, jobs=1)
    assert told["rank"]["ended"] == tuned.document.search.ended == "complete"
    ranking = tuned.problems[0].ranking
    assert [one["config"] for one in told["rank"]["configs"]] == [one.config for one in ranking]
    times = [one["time"]["us"] for one in told["rank"]["configs"]]
    assert times == pytest.approx([one.time_us for one in ranking], rel=1e-4)

    kernels = read(tmp_path / "recorded").kernels
    assert told["capture"]["complete"]
    assert [(one["name"], one["launches"], one["compiles"]) for one in told["capture"]["kernels"]] == [
        (each.name, each.launches, each.ok) for each in kernels
    ]
    assert len(kernels) == 2
