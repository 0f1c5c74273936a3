"""What the commands that list and look up write: by the same options as all the others."""

import csv
import io
import json
from pathlib import Path

import pytest

from kprof.reporters.registry import formats

ROOT = Path(__file__).resolve().parents[2]
OCCUPANCY = ("occupancy", "--arch", "gfx942,gfx1201", "--vgpr", "128", "--num-warps", "8")
LISTS = {"rules": ("list", "rules"), "kernels": ("list", "kernels"), "architectures": ("list", "gpus")}


@pytest.mark.parametrize("kind", LISTS)
def test_a_row_of_csv_is_an_entry_of_json(kprof, kind):
    """As many, with the same names; what has several values has them with spaces between."""
    entries = json.loads(kprof(*LISTS[kind], "--json", "-").out)[kind]
    rows = list(csv.DictReader(io.StringIO(kprof(*LISTS[kind], "--csv", "-").out)))
    assert [row["name"] for row in rows] == [entry["name"] for entry in entries]
    for row, entry in zip(rows, entries, strict=True):
        for name in {"products", "cases", "parts"} & row.keys():
            assert row[name].split() == entry[name]


def test_occupancy_as_csv(kprof):
    """The resources and wavefronts of the JSON document, a row an architecture; empty where it has no name."""
    kernels = json.loads(kprof(*OCCUPANCY, "--json", "-").out)["kernels"]
    rows = list(csv.DictReader(io.StringIO(kprof(*OCCUPANCY, "--format", "csv").out)))
    assert [row["arch"] for row in rows] == ["gfx942", "gfx1201"]
    for row, kernel in zip(rows, kernels, strict=True):
        assert row["name"] == row["product"] == ""
        assert float(row["waves_per_simd"]) == kernel["occupancy"]["waves_per_simd"]
        assert row["limiter"] == kernel["occupancy"]["limiter"]
        assert {name: int(row[name]) for name in kernel["resources"] if name in row} == {
            name: value for name, value in kernel["resources"].items() if name in row
        }


@pytest.mark.parametrize("command", [*LISTS.values(), OCCUPANCY, ("list", "gpus", "gfx942")])
def test_a_file_leaves_the_text(kprof, tmp_path, command):
    """A document in a file is the one on standard output, and people still get the text."""
    path = tmp_path / "found.json"
    told = kprof(*command, "--json", str(path))
    assert told.code == 0
    assert told.out == kprof(*command).out
    assert json.loads(path.read_text()) == json.loads(kprof(*command, "--format", "json").out)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("list", "rules", "--format", "sarif"), "the format sarif does not support"),
        (("list", "gpus", "--format", "jsn"), "did you mean 'json'"),
        (("list", "gpus", "gfx942", "--csv", "x.csv"), "the format csv does not support"),
        (("list", "rules", "--json", "-", "--csv", "-"), "standard output"),
    ],
)
def test_a_format_that_cannot_be_written_is_an_error(kprof, command, message):
    """Another kind's, a mistyped one, one without rows, two on standard output."""
    ran = kprof(*command)
    assert ran.code == 2
    assert message in ran.err


def test_no_command_has_an_option_of_a_format_of_its_own():
    """``--json`` and the like come from the folder of formats alone."""
    for path in (ROOT / "kprof/cli").rglob("*.py"):
        text = path.read_text("utf-8")
        assert [each.name for each in formats() if f'"--{each.name}' in text] == [], path
