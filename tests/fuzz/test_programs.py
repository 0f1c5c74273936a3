"""The two programs, damage by the hundred thousand and the coverage-guided one, and the page made from them."""

import os
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec

import pytest

from validation.fuzz import readers, results, run, sweep
from validation.fuzz.damaging import OUTCOMES


def test_a_sweep_counts_every_input():
    """Read and refused, in a worker."""
    tally = sweep.sweep("tunableop", seed=1, first=40, count=250)
    assert tally.count == 250
    assert set(tally.outcomes) <= {"read", "refused"}
    assert tally.places == {}
    assert 0 < tally.slowest_s < 10
    assert 40 <= tally.slowest < 290
    assert tally.peak_mib > 5


def test_a_worker_that_dies_is_started_again_behind_the_input(tmp_path, monkeypatch):
    """The input that killed it is counted, and those behind it are read."""
    package = tmp_path / "site"
    package.mkdir()
    # Every process of this interpreter imports it: the fourth input ends the worker.
    (package / "sitecustomize.py").write_text(
        "import sys\n"
        "if 'validation.fuzz.damaging' in sys.orig_argv:\n"
        "    import os\n"
        "    from validation.fuzz import mutations\n"
        "    sound, made = mutations.damaged, []\n"
        "    def damaged(*given):\n"
        "        made.append(1)\n"
        "        ended = sys.orig_argv[sys.orig_argv.index('validation.fuzz.damaging') + 3].split(',')[2:]\n"
        "        if len(made) == 4 and not ended:\n"
        "            os._exit(7)\n"
        "        return sound(*given)\n"
        "    mutations.damaged = damaged\n"
    )
    monkeypatch.setattr(sweep.os, "pathsep", f":{package}:")
    tally = sweep.sweep("tunableop", seed=1, first=0, count=8)
    assert tally.outcomes["killed"] == 1
    assert tally.count == 8
    assert tally.places == {"killed: exit status 7": [3]}


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("validation.fuzz.sweep", ["--reader", "tunableop"]),
        ("validation.fuzz.damaging", ["tunableop", "1", "0,4", "."]),
    ],
)
def test_a_reader_without_seeds_is_one_message(tmp_path, program, arguments):
    """Before anything is started, and where a worker is started by hand."""
    code = (
        "import runpy, sys; from pathlib import Path; from validation.fuzz import target\n"
        f"target.CORPUS = Path({str(tmp_path)!r}); sys.argv[1:] = {arguments!r}\n"
        f"runpy.run_module({program!r}, run_name='__main__')"
    )
    path = os.pathsep.join([str(sweep.ROOT), str(sweep.ROOT / "analyzers")])
    ran = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr == "validation/fuzz/corpus/tunableop: no seeds\n  Put a small sound file there.\n"


def test_the_page_says_what_was_recorded():
    """The table is made from the results."""
    text = results.PAGE.read_text()
    assert results.page(text, results.runs()) == text


def test_results_are_of_all_readers():
    """Each with a share, and without a failure."""
    known = results.runs()
    assert {one["reader"] for one in known} == set(readers.names())
    assert not any(one["places"] for one in known)
    assert all(one["count"] == sum(one["outcomes"].values()) for one in known)
    assert all(set(one["outcomes"]) <= set(OUTCOMES) for one in known)


def test_a_failure_stands_in_the_table():
    """And in the sum."""
    run_ = {"reader": "x", "seed": 4, "first": 0, "count": 3, "slowest_s": 1.25, "peak_mib": 7, "places": {}}
    text = results.table([{**run_, "outcomes": {"read": 2, "hang": 1}}])
    assert "| x | 4 | 3 | 2 | 0 | 0 | 1 | 0 | 0 | 0 | 1.2 s | 7 MiB |" in text
    assert text.splitlines()[-1].startswith("| all |  | 3 | 2 | 0 | 0 | 1 |")


def test_inputs_of_the_structural_mutators_are_counted_apart():
    """By their seeds."""
    known = [{"seed": seed, "count": count} for seed, count in ((51, 5), (1000, 1200), (1003, 30))]
    assert "made 1,230 of these inputs" in results.structural_inputs(known)


def test_recording_adds_up(tmp_path, monkeypatch):
    """A run of the same seed takes the place of the former."""
    monkeypatch.setattr(results, "FILE", tmp_path / "results.json")
    monkeypatch.setattr(results.runs, "__defaults__", (tmp_path / "results.json",))
    tally = sweep.Tally(Counter(read=5, refused=2), {}, 0.5, 3, 20)
    results.record("report", 1, 0, tally)
    results.record("report", 2, 0, tally)
    results.record("report", 1, 0, sweep.Tally(Counter(read=1), {}, 0.5, 3, 20))
    assert [(one["seed"], one["count"]) for one in results.runs()] == [(1, 1), (2, 7)]


def test_dictionaries_are_as_libfuzzer_reads_them():
    """Marks and quotes by their numbers."""
    assert run.dictionary(["a", '"x": [', "\x7fELF"]) == '"a"\n"\\x22x\\x22\\x3a\\x20\\x5b"\n"\\x7fELF"\n'
    assert all(run.dictionary(readers.target(name).words).count("\n") >= 1 for name in readers.names())


def test_without_atheris_it_says_so(monkeypatch, capsys):
    """And ends in a way that a script can tell."""
    monkeypatch.setattr(run, "find_spec", lambda _name: None)
    monkeypatch.setattr(sys, "argv", ["run", "report"])
    assert run.main() == run.NO_ATHERIS
    assert "pip install" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(find_spec("atheris") is None, reason="Atheris is not installed")
def test_the_fuzzer_runs(tmp_path, monkeypatch):
    """It executes inputs and keeps what is new."""
    outcome = run.fuzz("tunableop", 2)
    assert outcome.executed > 50
    assert outcome.failures == ()
    assert outcome.words == ""
