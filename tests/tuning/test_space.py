"""Search spaces and the files that they are read from."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from kprof.errors import KprofError
from kprof.tuning import space_file
from kprof.tuning.space import MOST_COMBINATIONS, Space, check

KNOWN = {"BLOCK_M", "num_warps"}


def written(folder: Path, name: str, text: str | bytes) -> str:
    """A file with this content."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.toml", 'BLOCK_M = [64, 128]\nnum_warps = [4, 8]\nconstraints = ["BLOCK_M <= 64 or num_warps == 8"]'),
        ("s.yaml", "BLOCK_M: [64, 128]\nnum_warps: [4, 8]\nconstraints: ['BLOCK_M <= 64 or num_warps == 8']"),
        ("s.json", json.dumps({"space": {"BLOCK_M": [64, 128], "num_warps": [4, 8]},
                               "constraints": ["BLOCK_M <= 64 or num_warps == 8"]})),
    ],
)  # fmt: skip
def test_the_same_space_in_every_form(tmp_path: Path, name: str, text: str) -> None:
    """TOML, YAML and JSON say the same."""
    space = check(space_file.read(written(tmp_path, name, text)), KNOWN, {"M": 1})

    assert space.knobs == {"BLOCK_M": (64, 128), "num_warps": (4, 8)}
    assert space.size == 4
    assert [c.value({"BLOCK_M": 128, "num_warps": 4}) for c in space.constraints] == [False]


def test_a_list_of_configurations(tmp_path: Path) -> None:
    """Repeated configurations count once; a fixed knob picks those that have it."""
    text = "- {BLOCK_M: 64, num_warps: 4}\n- {BLOCK_M: 128, num_warps: 4}\n- {num_warps: 4, BLOCK_M: 64}\n"
    space = space_file.read(written(tmp_path, "s.yml", text))

    assert space.size == 2
    assert space.fixed({"BLOCK_M": 128}).listed == ({"BLOCK_M": 128, "num_warps": 4},)
    with pytest.raises(KprofError, match="none of the 2 configurations"):
        space.fixed({"BLOCK_M": 32})


def test_true_and_one_are_two_values(tmp_path: Path) -> None:
    """They are equal to Python and not to a kernel."""
    assert space_file.read(written(tmp_path, "s.toml", "FLAG = [true, 1, true]")).knobs["FLAG"] == (True, 1)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.txt", "BLOCK_M = [1]", "is not a .toml, .yaml or .json file"),
        ("s.toml", "BLOCK_M = [1", "is not valid TOML"),
        ("s.yaml", "BLOCK_M: [1", "is not valid YAML"),
        ("s.yaml", "a: &a [1,1]\nb: &b [*a,*a]\nc: [*b,*b]", "aliases are not allowed"),
        ("s.yaml", "a: !!python/object/apply:os.system ['true']", "is not valid YAML"),
        ("s.json", "[" * 100_000, "is not valid JSON"),
        ("s.json", "3", "holds neither knobs nor a list"),
        ("s.json", "[]", "is an empty list"),
        ("s.json", "[3]", "is not a configuration"),
        ("s.json", "{}", "names no knobs"),
        ("s.json", '{"BLOCK_M": [{"a": 1}]}', "has a value that is not a number"),
        ("s.json", '{"BLOCK_M": [1], "constraints": "BLOCK_M < 2"}', "constraints is not a list"),
        ("s.json", '{"BLOCK_M": [1], "constraints": ["import os"]}', "cannot be read"),
        ("s.json", b"\xff\xfe", "is not UTF-8 text"),
    ],
)
def test_files_that_are_no_space(tmp_path: Path, name: str, text: str | bytes, message: str) -> None:
    """One sentence with the file's name."""
    path = written(tmp_path, name, text)

    with pytest.raises(KprofError, match=message) as caught:
        space_file.read(path)
    assert caught.value.path == path


def test_a_missing_a_huge_and_a_folder(tmp_path: Path) -> None:
    """What cannot be a file of knobs is said without reading it."""
    (tmp_path / "huge.json").write_bytes(b" " * (space_file.MOST_BYTES + 1))
    (tmp_path / "folder.json").mkdir()

    for name, message in (
        ("none.json", "no such file"),
        ("huge.json", "too large"),
        ("folder.json", "this is a directory"),
    ):
        with pytest.raises(KprofError, match=message):
            space_file.read(str(tmp_path / name))


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"BLOCK_M": (1,), "BLOCK_L": (1,)}, "sets 'BLOCK_L', which the kernel does not have; did you mean 'BLOCK_M'"),
        ({"BLOCK_M": ()}, "is empty: BLOCK_M has no values"),
        ({}, "nothing to choose from"),
        ({"BLOCK_M": tuple(range(5000)), "num_warps": tuple(range(2000))}, "has 10,000,000 combinations"),
    ],
)
def test_spaces_that_cannot_be_searched(knobs: dict[str, Any], message: str) -> None:
    """Unknown, empty and endless ones."""
    with pytest.raises(KprofError, match=message):
        check(Space("s.toml", knobs), KNOWN, {})


def test_a_constraint_on_something_unknown(tmp_path: Path) -> None:
    """Knobs of the kernel and sizes may be named, nothing else."""
    path = written(tmp_path, "s.toml", 'BLOCK_M = [1]\nconstraints = ["BLOCK_M < M", "num_warps < 9", "K > 1"]')

    with pytest.raises(KprofError, match="'K > 1' names 'K'"):
        check(space_file.read(path), KNOWN, {"M": 8})


def test_two_thousand_configurations_are_fine(tmp_path: Path) -> None:
    """A long list is read and checked."""
    configs = [{"BLOCK_M": 16 * (i + 1), "num_warps": 4} for i in range(2000)]

    assert check(space_file.read(written(tmp_path, "s.json", json.dumps(configs))), KNOWN, {}).size == 2000
    assert MOST_COMBINATIONS > 900_000


def test_yaml_of_many_open_brackets_is_refused_at_once(tmp_path: Path) -> None:
    """PyYAML would look at all of them for each further one."""
    path = tmp_path / "deep.yaml"
    path.write_text("BLOCK: " + "[" * 20_000)
    began = time.process_time()
    with pytest.raises(KprofError, match="is not valid YAML: nested too deep"):
        space_file.load(str(path))
    assert time.process_time() - began < 5
