"""What would pay in a recorded step, configurations searched for its kernels, and rows by several things at once."""

import json
import subprocess
import sys

import pytest

import kprof as kp
import kprof.tuning.recorded.advise
from tests.recording.conftest import capture_command, kprof_environment

pytestmark = pytest.mark.triton


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("narrow") / "capture"
    command = capture_command(folder, "--operators", "--arch=MI300X", "narrow_step.py")
    assert subprocess.run(command, env=kprof_environment(), check=False).returncode == 0
    return folder


def test_what_is_left_on_the_table_is_named_with_what_it_rests_on(narrow):
    found = kp.profile(narrow, within="step").document
    changes = {one.what.split(":")[0]: one for one in found.changes}
    assert any(what.startswith("torch.compile(model) (fewer and larger launches") for what in changes)
    assert "one product of 2,048x1,024 by 1,536 columns in place of 1,024 and 256 and 256" in changes
    assert any(what.startswith("a batch of 20,000 products of 8x64 by 8") for what in changes)
    assert all(one.sure and one.share == pytest.approx(one.us / found.us) for one in found.changes)
    assert any("own configurations are compared; to compare more, run: " in note for note in found.notes)


def test_rows_by_module_and_operator_at_once(kprof, narrow, tmp_path):
    ran = kprof("profile", narrow, "--within", "step", "--by", "module,name", "--json", tmp_path / "p.json")
    assert ran.code == 0, ran.err
    rows = json.loads((tmp_path / "p.json").read_text())["rows"]
    assert {(row["module"], row["name"]): row["calls"] for row in rows} == {
        ("Attention.Linear", "aten::mm"): 3,
        ("Attention", "aten::add"): 30,
        ("Attention", "matmul"): 1,
        ("", "aten::bmm"): 1,
    }
    assert "Attention.Linear  mm" in ran.out
    refused = kprof("profile", narrow, "--by", "module,colour")
    assert refused.code == 2
    assert "several: module,name" in refused.err


def test_a_search_says_what_it_found_or_why_not(narrow):
    """A second is enough for a compile on some machines and not on others."""
    found = kp.profile(narrow, within="step", advise=1).document
    named = [one.what for one in found.changes] + list(found.notes)
    assert any("matmul" in words for words in named)
    assert not any("own configurations are compared" in note for note in found.notes)


class _Gain:
    told_apart = True

    def words(self):
        return "2.00 times as fast"


class _Trials:
    """What a search gives, as far as a profile looks at it."""

    tried, left, gain, best = 12, 3, 2.0, ("first",)

    def __init__(self, *, told_apart):
        self.told_apart = told_apart

    def beside_start(self, trial):
        assert trial == "first"
        return _Gain()


def _searched(monkeypatch, narrow, *, told_apart=True, error="", seconds=60.0):
    from kprof.tuning import recorded
    from kprof.tuning.recorded.answer import Answer

    asked = []

    def advise(target, **options):
        asked.append((target, options["budget"], *options["only"]))
        answer = Answer("the launch at step.py:3", "BLOCK=32", "BLOCK=64") if told_apart and not error else None
        trials = None if error else _Trials(told_apart=told_apart)
        yield recorded.AdvisedKernel(
            f"{target}::{options['only'][0]}", "matmul", 1, "options and tiles", trials, answer, error
        )

    monkeypatch.setattr(recorded, "advise", advise)
    return kp.profile(narrow, within="step", advise=seconds).document, asked


def test_a_better_configuration_saves_its_share_of_all_launches(monkeypatch, narrow):
    document, ((target, budget, kernel_id),) = _searched(monkeypatch, narrow)
    (change,) = [one for one in document.changes if one.what.startswith("matmul")]
    kernel = next(row for row in document.rows if row.name == "matmul")
    assert change.us == pytest.approx(kernel.us / 2)
    assert change.what == "matmul: BLOCK=64 at the launch at step.py:3"
    assert change.sure == "compiled, and by the model 2.00 times as fast"
    assert (target, budget) == (str(narrow), 60)
    assert (narrow / "kernels" / kernel_id).is_dir()
    assert any("12 configurations compiled, 3 left" in note for note in document.notes)


def test_what_brings_nothing_is_no_change_and_is_said(monkeypatch, narrow):
    document, _ = _searched(monkeypatch, narrow, told_apart=False)
    assert not [one for one in document.changes if one.what.startswith("matmul: BLOCK")]
    assert any("no configuration is predicted to be clearly faster" in note for note in document.notes)
    document, _ = _searched(monkeypatch, narrow, error="it does not compile again")
    assert any("could not be searched: it does not compile again" in note for note in document.notes)


def test_a_kernel_of_a_small_share_is_left_alone(monkeypatch, narrow):
    monkeypatch.setattr(sys.modules["kprof.tuning.recorded.advise"], "LEAST_SHARE", 0.5)
    document, asked = _searched(monkeypatch, narrow)
    assert asked == []
    assert not any("matmul" in note for note in document.notes)
