"""A short run of the damage that ``make damage`` does for hours, and that it would see what it looks for."""

import importlib.util
import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "validation"
SHORT = (
    "assembly",
    "capture",
    "check-config",
    "counters",
    "layout",
    "proton",
    "report",
    "results",
    "trace-readers",
    "tunableop",
)


@pytest.fixture(scope="module")
def script():
    """``validation/damage.py`` as a module."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        specification = importlib.util.spec_from_file_location("damage", SCRIPTS / "damage.py")
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
    finally:
        sys.path.remove(str(SCRIPTS))
    return module


@pytest.mark.parametrize("reader", SHORT)
def test_damaged_files_are_read_or_refused(script, reader):
    """No traceback, no hang, no gigabyte, and no two readers that differ."""
    found = list(script.sweep(reader, seed=1, first=0, count=8))
    assert [number for number, _, _ in found] == list(range(8))
    assert [one for one in found if one[1] not in {"read", "refused"}] == []


def test_the_same_seed_is_the_same_damage(script, tmp_path):
    """And what it does is damage."""
    ((name, data),) = script.sources(script.READERS["proton"], samples=False)
    assert name == "made0"
    made = [script.damaged(random.Random(seed), data, tmp_path) for seed in range(40)]
    assert made == [script.damaged(random.Random(seed), data, tmp_path) for seed in range(40)]
    assert sum(one != data for one in made) >= 35


def test_a_traceback_is_seen(script, monkeypatch, tmp_path):
    """With the place that it came from."""
    from kprof.cli import app, explain

    def error():
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(app, "report", app.report)
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(explain, "command", error)
    outcome, place = script.one(script.Reader(("explain",)), "x", b"", tmp_path / "in")
    assert outcome == "traceback"
    assert "ZeroDivisionError: 'on purpose'" in place


def test_a_hang_is_seen(script, monkeypatch, tmp_path):
    """It is ended after its time."""
    from kprof.cli import app, explain

    def endless():
        while True:
            pass

    monkeypatch.setattr(app, "report", app.report)
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(explain, "command", endless)
    before = script.signal.signal(script.signal.SIGALRM, script._late)
    try:
        assert script.one(script.Reader(("explain",)), "x", b"", tmp_path / "in", seconds=0.5)[0] == "hang"
    finally:
        script.signal.signal(script.signal.SIGALRM, before)
