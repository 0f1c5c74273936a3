"""What is written for a server: its own format, and what to measure where votes and model disagree."""

import json

import pytest

from kprof_servers.pull_request import pull_request
from kprof_servers.served.document import NeededFile, PredictedConfig, RankedBatch, ServerConfigs, ServerVerdict
from kprof_servers.served.proposals import contents, proposed


def predicted(block, us):
    """A configuration with its time; the range is of no matter."""
    return PredictedConfig({"num_warps": 4, "BLOCK_SIZE_M": block}, us, us, us)


def found(*ranked, status="default"):
    """One file with so many batch sizes."""
    file = NeededFile(
        kernel="block FP8", layer="dense", layers=1, shape={"N": 1}, name="N=1.json", folder="a/configs", status=status,
        ranked=list(ranked),
    )  # fmt: skip
    return ServerConfigs(
        kprof="0", model="config.json", server="vllm", version="1", looked=True, architecture="A", gpu="MI300X",
        arch="gfx942", device="AMD_Instinct_MI300X", weights="fp8", tp=1, ep=1, needed=[file], problems=[], notes=[],
        verdict=ServerVerdict("ok", ""),
    )  # fmt: skip


FASTER = RankedBatch(8, 3, predicted(64, 50.0), predicted(16, 20.0), runners_up=[predicted(32, 30.0)])
SLOWER = RankedBatch(64, 3, predicted(64, 20.0), predicted(16, 50.0), runners_up=[predicted(32, 60.0)])
TIED = RankedBatch(65, 3, predicted(64, 20.0), predicted(16, 20.5), tie=True)


@pytest.mark.parametrize(
    ("batch", "slower"),
    [
        (FASTER, False),
        (SLOWER, True),
        (TIED, False),
        (RankedBatch(1), False),
        (RankedBatch(1, runs=predicted(1, 2.0)), False),
    ],
)
def test_a_proposal_that_is_predicted_slower(batch, slower):
    """Than what runs; a tie and what is not known are not."""
    assert batch.slower is slower


def test_files_have_the_votes_choice_and_what_runs_is_measured_first_where_it_is_faster():
    """By batch size; the server's file has nothing but its own keys, in its tuner's order."""
    files = proposed(found(FASTER, SLOWER))
    written = {name: json.loads(text) for name, text in contents(files)}
    assert list(written) == ["a/configs/N=1.json", "runners_up.json"]
    assert written["a/configs/N=1.json"] == {rows: {"BLOCK_SIZE_M": 16, "num_warps": 4} for rows in ("8", "64")}
    others = written["runners_up.json"]["a/configs/N=1.json"]
    assert [(one["config"]["BLOCK_SIZE_M"], one.get("runs_today", False)) for one in others["8"]] == [
        (16, False),
        (32, False),
    ]
    assert [(one["config"]["BLOCK_SIZE_M"], one.get("runs_today", False)) for one in others["64"]] == [
        (64, True), (16, False), (32, False)
    ]  # fmt: skip


def test_the_pull_request_says_what_to_measure_first():
    """In its head and in the row; without such a proposal it says nothing of it."""
    document, sure = found(FASTER, SLOWER, TIED), found(FASTER, TIED)
    text = pull_request(document, proposed(document))
    assert "**1 of 3 proposals are predicted to be slower than what runs today.**" in text
    (row,) = (line for line in text.splitlines() if "(slower: measure both)" in line)
    assert "| 64 |" in row
    assert text.count("(cannot be distinguished)") == 1
    assert "slower" not in pull_request(sure, proposed(sure))


def test_a_file_that_is_there_or_lacks_a_batch_is_not_written():
    """The server would send the missing batch to a far bucket."""
    assert proposed(found(FASTER, status="exact")) == []
    assert proposed(found(FASTER, RankedBatch(64, reason="no configuration compiles"))) == []
