"""A file given to the wrong ingest command: the message names the right one."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kprof.errors import KprofError
from kprof.inputs import rocprof
from kprof_analyzers.profiles.timeline.files import trace_files
from kprof_analyzers.profiles.timeline.streaming import summarise

FILES = Path(__file__).parents[1] / "artifacts/rocprof"
KERNEL = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 5, "args": {"device": 0}}
OTHERS = {
    "trace.json": (json.dumps({"schemaVersion": 1, "traceEvents": [KERNEL]}), "kprof ingest trace"),
    "p.hatchet": (json.dumps([{"children": [], "frame": {"name": "ROOT"}, "metrics": {}}], indent=4), "ingest trace"),
    "tunableop_results0.csv": ("Validator,PT_VERSION,2.4.0\nGemm,tn_1_2_3,Default,0.1\n", "kprof ingest tunableop"),
    "wall_clock.json": ('{"timemory": {"wall_clock": {"ranks": []}}}', "kprof ingest results"),
    "tuned.csv": ("M,N,K,libtype,solidx,us\n1,2,3,ck,1,2.5\n", "kprof ingest results"),
    "code.json": ('{"code":[["s_endpgm",0,0,"",4,0,0,0]]}', "kprof ingest thread-trace"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_given_to_ingest_counters(tmp_path, name):
    """Named alone: an error with the command. In a folder: a note with the command."""
    text, command = OTHERS[name]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(KprofError) as alone:
        rocprof.read(path)
    assert command in (alone.value.hint or "")
    with pytest.raises(KprofError) as folder:
        rocprof.read(tmp_path)
    assert command in (folder.value.hint or "")
    shutil.copy(FILES / "v1/results.csv", tmp_path)
    assert [command in issue.message for issue in rocprof.read(tmp_path).issues] == [True]


@pytest.mark.parametrize("name", ["v1/results.csv", "v1/results.json", "v1/results.db", "v3_json/results.json"])
def test_measurements_given_to_ingest_trace(name):
    """CSV, both JSON generations and databases are timelines of rocprof; PyTorch's reader refuses them."""
    (file,) = trace_files([FILES / name])
    assert file.kind == "rocprof"
    with pytest.raises(KprofError, match=r"not|this is"):
        summarise(FILES / name)


def test_a_rocprof_trace_that_begins_with_copies_given_to_ingest_trace(tmp_path):
    """Copies have no kernel's fields, and the arrows between events have a category: still rocprof's."""
    copy = {"ph": "X", "name": "CopyHostToDevice", "pid": 1, "tid": 7, "ts": "1", "dur": "2",
            "args": {"BeginNs": "1000", "EndNs": "3000", "Name": "CopyHostToDevice"}}  # fmt: skip
    arrow = {"ts": 1, "ph": "s", "cat": "DataFlow", "id": 1, "pid": 2, "tid": 7, "name": "dep"}
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"traceEvents": [{}, copy, arrow]}, separators=(",", ":")))
    with pytest.raises(KprofError) as raised:
        summarise(path)
    assert "kprof ingest counters" in (raised.value.hint or "")
    assert len(rocprof.read(path).table("api_calls")) == 1


def test_a_folder_of_measurements_given_to_ingest_trace(tmp_path):
    """Nothing in it is a timeline; with one it is read as a run."""
    shutil.copy(FILES / "v1/results.stats.csv", tmp_path)
    sqlite3.connect(tmp_path / "run.db").close()
    with pytest.raises(KprofError) as raised:
        trace_files([tmp_path])
    assert "kprof ingest counters" in (raised.value.hint or "")
    shutil.copy(FILES / "v1/results.csv", tmp_path)
    assert trace_files([tmp_path])[0].kind == "rocprof"


def test_help_names_what_is_read():
    """Each command's one line and its argument say what it takes."""
    from kprof.cli.ingest import app

    for name in ("counters", "trace"):
        shown = CliRunner().invoke(app, [name, "--help"])
        assert shown.exit_code == 0
        assert "PATH" in shown.output
