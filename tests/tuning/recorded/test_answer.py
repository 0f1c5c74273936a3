"""What is written of a recorded kernel's configuration, and which values are tried."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kprof.findings import Location
from kprof.recording.file_entries import batch_of, keys_in_use
from kprof.tuning.recorded.answer import Answer, answer
from kprof.tuning.recorded.knobs import values
from kprof.tuning.recorded.relaunch import LaunchDescription

pytestmark = pytest.mark.triton

KNOBS = {"BLOCK_M": 64, "BLOCK_N": 64, "HEAD": 128, "num_warps": 4, "num_stages": 2}
NONE: frozenset[str] = frozenset()


def subject(knobs: dict[str, Any] | None = None) -> Any:
    """A recorded kernel as far as the answer looks at it."""
    place = Location(file="program.py", line=7)
    kernel = SimpleNamespace(source=place, site=[Location(file="program.py", line=40)])
    return SimpleNamespace(knobs=knobs or KNOBS, recorded=SimpleNamespace(kernel=kernel))


def test_an_autotuned_kernel_gets_a_configuration_of_its_autotuner() -> None:
    """With what its others have, and what is new; a head's size is no part of it."""
    ready = LaunchDescription(NONE, NONE, NONE, [{"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4, "num_stages": 2}])
    found = answer(subject(), ready, {**KNOBS, "BLOCK_M": 128, "waves_per_eu": 2, "AMDGCN_USE_BUFFER_OPS": "0"})
    assert found == Answer(
        "@triton.autotune at program.py:7",
        "triton.Config({'BLOCK_M': 64, 'BLOCK_N': 64}, num_warps=4, num_stages=2)",
        "triton.Config({'BLOCK_M': 128, 'BLOCK_N': 64, 'waves_per_eu': 2}, num_warps=4, num_stages=2)",
        "with AMDGCN_USE_BUFFER_OPS=0 in the environment",
    )


def test_a_configuration_of_a_file_is_answered_with_its_entry(tmp_path: Path) -> None:
    """The file and the key are named; other files, and entries that are not what was launched, are not taken."""
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4, "cache": None}
    path, other = tmp_path / "E=8,N=1024.json", tmp_path / "other.json"
    path.write_text(json.dumps({"1": {**config, "BLOCK_M": 16}, "64": config, "128": {"num_warps": 4}}))
    other.write_text("not json")
    deep, link = tmp_path / "deep.json", tmp_path / "link.json"
    deep.write_text("[" * 50_000)
    link.symlink_to(path)
    ready = LaunchDescription(NONE, NONE, NONE, (), [str(p) for p in (other, deep, link, tmp_path / "gone.json", path)])
    found = answer(subject(), ready, {**KNOBS, "BLOCK_M": 128, "matrix_instr_nonkdim": 16})
    assert found.place == f'{path}, "64"'
    assert json.loads(found.before) == config
    assert json.loads(found.after) == {**config, "BLOCK_M": 128, "matrix_instr_nonkdim": 16}


@pytest.mark.parametrize(
    ("keys", "bucket"),
    [((), ""), (("M_LEQ_64",), ', "M_LEQ_64"'), (("attn_2d", "fwd", "any"), ', "attn_2d" > "fwd" > "any"')],
)
def test_a_bucket_is_named_by_all_its_keys(tmp_path: Path, keys: tuple[str, ...], bucket: str) -> None:
    """As AITER's files have them: one configuration, one for each M, or one for each kernel and case."""
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4}
    whole: dict[str, Any] = config
    for key in reversed(keys):
        whole = {key: whole, f"{key}_other": {**config, "BLOCK_M": 32}}
    path = tmp_path / "gfx942-GEMM.json"
    path.write_text(json.dumps(whole))
    found = answer(subject(), LaunchDescription(NONE, NONE, NONE, (), [str(path)]), {**KNOBS, "num_warps": 8})
    assert found.place == f"{path}{bucket}"
    assert json.loads(found.after) == {**config, "num_warps": 8}


def test_of_equal_entries_the_one_that_the_program_took_is_named(tmp_path: Path) -> None:
    """By the keys that it holds it under; the longest that fit."""
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4}
    path = tmp_path / "N=1536,K=7168.json"
    path.write_text(json.dumps({"8": config, "64": config, "up": {"64": config}}))
    knobs = {**KNOBS, "num_warps": 8}
    for keys, place in (
        ([], '"8" or "64" or "up" > "64"'),
        ([["config"]], '"8" or "64" or "up" > "64"'),
        ([["config"], ["8"]], '"8"'),
        ([["64"], ["up", "64"]], '"up" > "64"'),
    ):
        found = answer(subject(), LaunchDescription(NONE, NONE, NONE, (), [str(path)], keys=keys), knobs)
        assert found.place == f"{path}, {place}"


@pytest.mark.parametrize(("batch", "bucket"), [(None, '"8" or "64"'), (50, '"64"'), (1, '"8"'), (30, '"8" or "64"')])
def test_of_a_copied_entry_the_bucket_is_the_nearest_to_the_batch(
    tmp_path: Path, batch: int | None, bucket: str
) -> None:
    """Where that says what was launched: else it is not known."""
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4}
    path = tmp_path / "N=1536,K=7168.json"
    path.write_text(json.dumps({"8": config, "32": {**config, "BLOCK_M": 16}, "64": config, "triton_version": "3.6"}))
    found = answer(
        subject(), LaunchDescription(NONE, NONE, NONE, (), [str(path)], batch=batch), {**KNOBS, "num_warps": 8}
    )
    assert found.place == f"{path}, {bucket}"


def test_rows_are_those_of_the_innermost_caller() -> None:
    """A tensor of that name is none."""

    def inner(M: Any) -> int | None:
        assert M is not None
        return batch_of(sys._getframe())

    num_tokens = 7
    assert inner(5) == 5
    assert inner("x") == num_tokens


def test_keys_of_a_configuration_that_a_caller_holds() -> None:
    """Found by the object: an equal one under another key is not it, nor is a copy."""
    table = {batch: {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4} for batch in (8, 64)}

    def launch(**_knobs: Any) -> list[list[str]]:
        return keys_in_use(sys._getframe(), ["BLOCK_M", "BLOCK_N", "num_warps"])

    def chosen(batch: int) -> list[list[str]]:
        config = table[min(table, key=lambda held: abs(held - batch))]
        return launch(**config)

    def copied(batch: int) -> list[list[str]]:
        config = dict(table[batch])
        return launch(**config)

    assert ["64"] in chosen(50)
    assert ["8"] not in chosen(50)
    assert ["8"] not in copied(8)


@pytest.mark.parametrize(
    ("ready", "line"),
    [
        (None, 40),
        (LaunchDescription(NONE, NONE, NONE), 40),
        (LaunchDescription(NONE, NONE, NONE, site=("program.py", 44)), 44),
    ],
)
def test_else_the_launch_is_named(ready: LaunchDescription | None, line: int) -> None:
    """With what changes there."""
    # Not what Triton does anyway.
    found = answer(subject(), ready, {**KNOBS, "BLOCK_M": 128, "kpack": 2, "matrix_instr_nonkdim": 0})
    assert (found.place, found.before) == (f"the launch at program.py:{line}", "BLOCK_M=64")
    assert found.after == "BLOCK_M=128, kpack=2"


def test_only_tiles_and_what_an_autotuner_lists_are_tried() -> None:
    """A tile up and down, an order of workgroups, a split; nothing where the program does not run."""
    ready = LaunchDescription(
        frozenset({"BLOCK_M"}), frozenset({"SPLIT_K"}), frozenset({"GROUP_M"}), [{"PAD": 3}, {"PAD": 4}]
    )
    knobs = {"BLOCK_M": 64, "SPLIT_K": 1, "GROUP_M": 8, "PAD": 3, "HEAD": 128, "CAUSAL": True}
    assert values(knobs, knobs, ready) == {
        "BLOCK_M": (16, 32, 64, 128, 256),
        "SPLIT_K": (1, 2, 4, 8, 16),
        "GROUP_M": (1, 2, 4, 8, 16),
        "PAD": (3, 4),
        "HEAD": (128,),
        "CAUSAL": (True,),
    }
    assert values(knobs, knobs, None) == {name: (value,) for name, value in knobs.items()}
