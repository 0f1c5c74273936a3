"""The page of the source documents: a row for everything, made by the script that runs the commands."""

import json
import re
from pathlib import Path

import pytest

from kprof.targets.hip_source import find_clang
from validation import source_inputs, source_times, try_sources
from validation.source_rows import LACKS, STATES, TABLE, TITLES, Outputs, entries

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/validation/sources.md").read_text(encoding="utf-8")
ENTRIES = list(entries(TABLE))
MOST_UNEXPLAINED = 30
MOST_WITHOUT_CONTROL = 3
# Commands that read files and tables, compile nothing with Triton and take no time.
STATIC = re.compile(
    r"kprof (occupancy|list|ingest|counters|trace|doctor|lint|draw|diff|analyze kernel {root}\S*/(artifacts|corpus)/)"
)
QUICK = sorted({entry.run for entry in ENTRIES if STATIC.search(entry.run)})


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of commands on the example files, each of which runs once."""
    folder = tmp_path_factory.mktemp("sources") / "made"
    source_inputs.make_files(folder)
    return Outputs(folder)


def test_the_page_has_every_row():
    """At least 150 rows; each document has some, and what does not work wholly has a reason."""
    shown = [line for line in PAGE.splitlines() if line.startswith("| ") and line.count(" | ") >= 4]
    assert len(shown) >= max(150, len(ENTRIES))
    assert {entry.row.document for entry in ENTRIES} == set(TITLES)
    assert all(f"## {title}" in PAGE for title in TITLES.values())
    for row in (entry.row for entry in ENTRIES):
        assert row.state in STATES, row.what
        assert row.lacks in LACKS, row.what
        assert f"| {row.what.replace('|', chr(92) + '|')} |" in PAGE, row
        assert row.state == "works" or row.why, row.what


def test_few_rows_lack_something_else_than_a_gpu_or_a_fact():
    """The page counts the rows that work partly or not by what they lack."""
    counted = re.search(r"(\d+) lack something else", PAGE)
    assert counted is not None
    assert int(counted[1]) <= MOST_UNEXPLAINED


def test_every_command_has_a_control():
    """Rows that have none are few, and the page has the reason of each."""
    without = [entry for entry in ENTRIES if entry.run and not entry.control]
    assert len(without) <= MOST_WITHOUT_CONTROL
    assert all(f"- {entry.row.what}: {entry.no_control}" in PAGE for entry in without)


def test_every_row_quotes_a_value():
    """The page quotes a number or the value of a setting from each command, and none from a help text."""
    cells = [line.split(" | ") for line in PAGE.splitlines() if line.count(" | ") >= 4]
    printed = {(what, command): quoted for what, command, quoted, *_ in cells}
    for entry in ENTRIES:
        if entry.run:
            assert "--help" not in entry.run
            assert re.compile(entry.pattern).groups, entry.row.what
            quoted = printed[f"| {entry.row.what}", f"`{entry.row.command}`"]
            assert re.search(r"\d|=|: ", quoted), (entry.row.what, quoted)
            assert re.search(entry.pattern, entry.run, re.MULTILINE) is None, "the pattern matches the command itself"


@pytest.mark.parametrize(
    "run",
    [
        # A kernel's file is imported, and with it Triton.
        pytest.param(run, marks=pytest.mark.triton if "list kernels" in run else ())
        for run in QUICK
    ],
)
def test_commands_print_what_the_page_says_and_their_controls_do_not(run, outputs):
    """Commands on files; the script runs all."""
    if ".hip " in run and find_clang() is None:
        pytest.skip("HIP source needs clang++")
    if ".pftrace" in run:
        pytest.importorskip("google.protobuf")
    problems = [outputs.problem(entry) for entry in ENTRIES if entry.run == run]
    assert [problem for problem in problems if problem is not None] == []


GROUP = '[[group]]\nrun = "kprof occupancy --vgpr 170 --arch gfx942"\n{control}rows = [["guide", "a", {pattern}]]\n'
CONTROL = 'control = "kprof occupancy --vgpr 128 --arch gfx942"\n'


@pytest.mark.parametrize(
    ("pattern", "control", "problem"),
    [
        ("'(2 of 8 waves)', 'works'", CONTROL, None),
        ("'(9 of 8 waves)', 'works'", CONTROL, "'a': no '(9 of 8 waves)' in"),
        ("'(of 8 waves)', 'works'", CONTROL, "'a': '(of 8 waves)' also matches the control kprof occupancy --vgpr 128"),
        ("'(2 of 8)', 'works'", "", "'a': no control, and no reason why"),
        ("'(2 of 8)', 'works', { no_control = 'one input' }", "", None),
        ("'(2 of 8)', 'works', { control = 'kprof occupancy --vgpr 170 --arch gfx908' }", CONTROL, None),
        ("'(2 of 8)', 'works', { control = 'kprof --version' }", "", "'a': the control has to be the same command"),
        ("'(2 of 8)', 'works', { control = 'kprof occupancy --vgpr x' }", "", "'a': the control fails"),
    ],
)
def test_a_row_that_proves_nothing_fails(pattern, control, problem, tmp_path):
    """A pattern that is missing or matches its control, and a control that is missing, another command or fails."""
    table = tmp_path / "sources.toml"
    table.write_text(GROUP.format(control=control, pattern=pattern))
    (one,) = try_sources.tried(tmp_path, table)
    assert (one.problem is None) if problem is None else (problem in str(one.problem))


def test_a_time_that_is_not_predicted_says_why(tmp_path, monkeypatch):
    """As when a file of kprof changes while the script runs; the times of the command before are not taken."""
    refused = "this machine runs another version of kprof than the one that sent the request"

    def run(command, folder):
        kernel = {"implementation": "mlstm_chunkwise", "basis": "unknown", "reason": refused}
        (folder / "one.json").write_text(json.dumps({"candidates": [kernel]}))
        return command

    monkeypatch.setattr(source_times, "run", run)
    with pytest.raises(RuntimeError, match=f"kprof select .* predicts no time for mlstm_chunkwise: {refused}"):
        list(source_times._forms(tmp_path))
    monkeypatch.setattr(source_times, "run", lambda *_: "exit code 2")
    with pytest.raises(RuntimeError, match=r"kprof analyze kernel .* writes no document:\nexit code 2"):
        list(source_times.predicted(tmp_path))
