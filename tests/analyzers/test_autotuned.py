"""An autotuned kernel is judged as the configuration that the model predicts to be the fastest."""

import sys
from importlib.util import find_spec

import pytest

import kprof
from kprof.document import AutotunedChoice, Prediction
from kprof.recording.command import RecordOptions, prepare, run
from kprof_analyzers.autotuned import choices_in_words, choose_fastest

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

LIBRARY = """
import triton, triton.language as tl

@triton.autotune([CONFIGS], key=["n"])
@triton.jit
def scale(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, at < n) * 2, at < n)
"""
PROGRAM = (
    LIBRARY
    + """
import torch
x = torch.empty(1 << 26, device="cuda", dtype=torch.bfloat16)
scale[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, torch.empty_like(x), x.numel())
"""
)
POOR = 'triton.Config({"B": 64}, num_warps=8)'
GOOD = 'triton.Config({"B": 4096}, num_warps=8)'


def program(folder, *configs):
    path = folder / "tuned.py"
    path.write_text(PROGRAM.replace("CONFIGS", ", ".join(configs)))
    return str(path)


def prediction(us, low, high):
    return Prediction(time_us=us, low_us=low, high_us=high, cycles=None, bound="matrix", shares={})


def test_the_fastest_stands_and_the_range_covers_what_is_as_fast():
    """Two differ by a hundredth, which no model can tell; the third is slower by far."""
    known = {"a": prediction(900.0, 500.0, 1500.0), "b": prediction(100.0, 80.0, 150.0), "c": prediction(101, 70, 152)}
    choice = choose_fastest(known, 5, {"cannot be launched": 2})
    assert choice == AutotunedChoice("b", 5, 3, 9.0, 2, 70.0, {"cannot be launched": 2})
    assert choice.words == (
        "best of 3 configurations by the model; 9x between best and worst; 2 within the model's error; "
        "of 5 listed: 2 cannot be launched"
    )


def test_many_choices_share_a_sentence():
    few = [(name, AutotunedChoice("b", 5, 3, spread, 1, 70.0)) for name, spread in (("one", 1.2), ("two", 2.5))]
    assert choices_in_words([*few, *few]) == [f"{name}: {choice.words}" for name, choice in few]
    left = {"cannot be launched": 2, "not compiled in time": 3}
    only = AutotunedChoice("b", 6, 1, 1.0, 1, 70.0, left)
    many = [*few, ("three", only), ("four", AutotunedChoice("b", 3, 2, 1.4, 1, 70.0, {"cannot be launched": 1}))]
    (words,) = choices_in_words(many)
    assert words == (
        "4 autotuned kernels run in the best of their configurations by the model; "
        "1.2x to 2.5x between best and worst; "
        "3 configurations cannot be launched (2 of three); 3 configurations not compiled in time (of three)"
    )


def test_without_a_time_nothing_is_chosen():
    assert choose_fastest({"a": prediction(None, None, None)}, 1) is None


@pytest.mark.triton
@needs_torch
def test_profile_takes_the_time_of_the_best_configuration(tmp_path):
    """The oracle is the program with that configuration alone."""
    both, alone = (tmp_path / name for name in ("both", "alone"))
    both.mkdir()
    alone.mkdir()
    tuned = kprof.profile([sys.executable, program(both, POOR, GOOD)], arch=["MI300X"])
    best = kprof.profile([sys.executable, program(alone, GOOD)], arch=["MI300X"])
    assert tuned.document.us == pytest.approx(best.document.us, rel=0.1)
    assert [change.what for change in tuned.document.changes] == [change.what for change in best.document.changes]
    assert any("best of 2 configurations by the model" in note for note in tuned.document.notes)


@pytest.mark.triton
@needs_torch
def test_commands_give_one_time(tmp_path):
    """A capture, and the function of the file with the launch written down."""
    command = [sys.executable, program(tmp_path, POOR, GOOD)]
    run(prepare(RecordOptions("MI300X", tmp_path / "capture", execute=False), command), command, stdout=2)
    (recorded,) = kprof.analyze(str(tmp_path / "capture")).kernels
    file = tmp_path / "library.py"
    file.write_text(LIBRARY.replace("CONFIGS", f"{POOR}, {GOOD}"))
    launch = {"signature": "*bf16,*bf16,i32", "shape": [{"n": 1 << 26}], "grid": ["cdiv(n,B)"]}
    (written,) = kprof.analyze(f"{file}::scale", arch=["MI300X"], **launch).kernels
    assert recorded.time_us == written.time_us
    assert recorded.autotuned.listed == written.autotuned.listed == 2
    assert recorded.specialization.constexprs["B"] == written.specialization.constexprs["B"] == 4096
    assert not [finding for finding in recorded.findings if finding.rule == "KP408"]
    (again,) = kprof.analyze(f"{file}::scale", arch=["MI300X"], **launch).kernels
    assert again.autotuned == written.autotuned
