"""Captures under the gate, without a compiler: what is judged, and when a capture is stale."""

import hashlib
import json
import shlex
import shutil
from types import SimpleNamespace

import msgspec
import pytest

from kprof.captures.reader import read
from kprof.errors import InputError
from kprof.findings import Location
from kprof.gate.captured import _elsewhere, captured, stale
from kprof.gate.config import KernelEntry
from tests.gate.conftest import REQUEST

ENTRY = KernelEntry(target="captures/my train")
END = {"t": "end"}


def sources(root, **files):
    """The lines of a recording that was made from these files, which are there now."""
    for name, text in files.items():
        (root / name).write_text(text)
    return [{"t": "sources", "files": {n: hashlib.sha256(t.encode()).hexdigest() for n, t in files.items()}}, END]


def test_each_kernel_of_the_architecture_is_a_check(recording, tmp_path):
    """In the capture's own words; a launched one must be launchable, one that was only tried need not."""
    capture = recording(lines=sources(tmp_path, a="1"), root="../..")
    (found,) = captured(ENTRY, str(capture.path), ["gfx950", "gfx942"])
    assert (found.problem, found.optional, found.stale, found.refused) == (None, False, False, False)
    assert found.recorded == f"{capture.path}::{recording.identifier}"
    assert (found.report.name, found.report.arch, found.entry) == ("matmul", "gfx942", ENTRY)
    assert found.report.resources.vgpr_spills == 0


def test_a_kernel_that_an_autotuner_only_tried_is_optional(recording, tmp_path):
    """It is passed over when it cannot be launched."""
    capture = recording(launched=False, lines=sources(tmp_path, a="1"), root="../..")
    (found,) = captured(ENTRY, str(capture.path), ["gfx942"])
    assert found.optional
    assert found.problem is None


def test_nothing_for_the_architecture_is_an_error(recording):
    """With what there is, and what the capture says of itself."""
    capture = recording(lines=[])
    with pytest.raises(InputError) as caught:
        list(captured(ENTRY, str(capture.path), ["gfx950", "gfx1100"]))
    assert caught.value == InputError(
        "the capture contains gfx942, not gfx950, gfx1100", path=str(capture.path), hint="; ".join(capture.notes)
    )
    assert capture.notes


def test_an_empty_capture_holds_no_kernel(recording):
    """Not an architecture without a name; without notes there is no hint."""
    capture = recording()
    (capture.path / "journal" / "1-a.jsonl").write_text('{"t": "end"}\n')
    with pytest.raises(InputError) as caught:
        list(captured(ENTRY, str(capture.path), ["gfx942"]))
    assert caught.value == InputError("the capture contains no kernel, not gfx942", path=str(capture.path))


def test_a_recording_that_was_cut_off_cannot_be_told(recording, tmp_path):
    """What was launched afterwards is not known; what was before is judged."""
    capture = recording(lines=sources(tmp_path, a="1")[:1], root="../..")
    cut, judged = captured(ENTRY, str(capture.path), ["gfx942"])
    assert (cut.problem, cut.stale) == ("; ".join(capture.notes), False)
    assert cut.report.source == Location(str(capture.path), 1)
    assert cut.report.arch == "gfx942"
    assert judged.problem is None


@pytest.mark.parametrize(
    ("stage", "status", "refused"),
    [("ttgir", "failed", True), ("a judgement", "failed", False), ("ttgir", "crashed", False), (None, "failed", False)],
)
def test_what_did_not_compile(recording, tmp_path, stage, status, refused):
    """The compiler's refusal is so on every machine; its death and everything else are not."""
    capture = recording(
        result={"status": status, "error": "too bad", "stage": stage}, lines=sources(tmp_path, a="1"), root="../.."
    )
    (found,) = captured(ENTRY, str(capture.path), ["gfx942"])
    assert "too bad" in found.problem
    assert (found.refused, found.optional) == (refused, False)
    assert (found.report.name, found.report.triton) == ("matmul", "3.9.0")
    assert found.report.specialization.options == {"num_warps": 4}


def test_a_capture_of_the_present_sources_is_not_stale(recording, tmp_path):
    """None of its files has changed."""
    capture = recording(lines=sources(tmp_path, a="1", b="2"), root="../..")
    assert stale(capture, "c") is None


def test_a_changed_source_makes_it_stale(recording, tmp_path):
    """The file, and the command that records again, as a shell reads it; then the kernels as they were."""
    lines = sources(tmp_path, a="1", b="2")
    capture = recording(lines=lines, root="../..", command=["python", "my train.py"])
    (tmp_path / "b").write_text("3")
    old, judged = captured(ENTRY, str(capture.path), ["gfx942"])
    assert (old.stale, judged.stale) == (True, False)
    said, _, command = old.problem.partition("; record it again: ")
    assert "b" in said.split()
    assert "a" not in said.split()
    assert said.endswith(" since it was recorded")
    assert shlex.split(command) == [
        *("kprof", "capture", "--arch", "gfx942", "--force", "-o", "captures/my train"),
        *("--", "python", "my train.py"),
    ]
    assert old.report.source == Location(str(capture.path), 1)


@pytest.mark.parametrize(("changed", "more"), [(3, ""), (4, " and 1 more"), (6, " and 3 more")])
def test_three_changed_sources_are_named(recording, tmp_path, changed, more):
    """And the others counted."""
    names = [f"f{number}" for number in range(6)]
    capture = recording(lines=sources(tmp_path, **dict.fromkeys(names, "1")), root="../..")
    for name in names[:changed]:
        (tmp_path / name).write_text("2")
    why = stale(capture, "c").partition(" since it was recorded; ")[0]
    assert [name for name in names if name in why] == names[:3]
    assert why.endswith(more or names[2]) or "changed" in why
    assert (f"and {changed - 3} more" in why) is (changed > 3)


def test_a_capture_that_does_not_know_its_sources_is_stale(recording):
    """As older ones; without a command there is a word for it."""
    why = stale(recording(), "c")
    assert why == (
        "the capture does not say which sources it was made from; "
        "record it again: kprof capture --arch gfx942 --force -o c -- PROGRAM"
    )


def test_what_is_no_capture(tmp_path):
    """Is said by its reader."""
    shutil.rmtree(tmp_path / "c", ignore_errors=True)
    with pytest.raises(InputError):
        list(captured(ENTRY, str(tmp_path / "c"), ["gfx942"]))


def test_sources_outside_the_work_tree_are_named_and_not_compared(recording, tmp_path):
    """A capture is moved without them; three of them are enough for a line."""
    digest = "0" * 64
    inside, end = sources(tmp_path, a="1")
    for names, words in [
        (["../lib/tile.py"], "../lib/tile.py"),
        (["../a.py", "../b.py", "../c.py", "../d.py"], "../a.py, ../b.py, ../c.py and 1 more"),
    ]:
        shutil.rmtree(tmp_path / "captures", ignore_errors=True)
        capture = recording(lines=[{**inside, "outside": dict.fromkeys(names, digest)}, end], root="../..")
        (found,) = captured(ENTRY, str(capture.path), ["gfx942"])
        assert (
            found.left_out == f"captures/my train was made from {words} outside the work tree, which kprof "
            "cannot compare with their current state"
        )
        assert not found.stale


def test_each_reason_is_one_of_a_list(recording, tmp_path):
    """What a recording was cut off by, and what has changed, in a row."""
    lines = sources(tmp_path, a="1", b="1", c="1", d="1", e="1")
    capture = recording(lines=lines[:1], root="../..")
    (capture.path / "journal" / "2-b.jsonl").write_text('{"t": "nothing that is known"\n')
    for name in "abcde":
        (tmp_path / name).write_text("2")
    old, cut, _ = captured(ENTRY, str(capture.path), ["gfx942"])
    assert old.problem.startswith("a changed, b changed, c changed and 2 more since it was recorded; record it again: ")
    notes = read(capture.path).notes
    assert len(notes) > 1
    assert cut.problem == "; ".join(notes)
    with pytest.raises(InputError) as caught:
        list(captured(ENTRY, str(capture.path), ["gfx950"]))
    assert caught.value.hint == "; ".join(notes)


def test_a_product_that_is_asked_for_takes_the_place_of_the_recorded_one(recording, tmp_path):
    """Where none is, the recorded one stays."""
    capture = recording(lines=sources(tmp_path, a="1"), root="../..", product="MI300A")
    for gpu, product in (("gfx942", None), ("MI325X", "MI325X")):
        (found,) = captured(ENTRY, str(capture.path), [gpu])
        assert found.report.product == (product or read(capture.path).kernels[0].product.name)


def test_all_architectures_that_a_capture_holds_are_named(recording):
    """In order."""
    capture = recording()
    other = json.dumps({**REQUEST, "arch": "gfx90a"})
    line = {"t": "kernel", "n": 1, "id": "1" * 32, "name": "other", "triton": "3.9.0", "request": json.loads(other)}
    (capture.path / "journal" / "2-b.jsonl").write_text(json.dumps(line) + "\n" + json.dumps(END) + "\n")
    with pytest.raises(InputError, match="the capture contains gfx90a, gfx942, not gfx950"):
        list(captured(ENTRY, str(capture.path), ["gfx950"]))


def test_what_was_not_there_then_makes_it_stale(recording, tmp_path):
    """A tuned file that is put where the program looked for it; one that another process of the program had is none."""
    (tmp_path / "configs").mkdir()
    line, end = sources(tmp_path, a="1")
    empty = hashlib.sha256(b"").hexdigest()
    looked = {"absent": ["a", "b.json", "c.json", "result", "../out.json"], "written": ["result"]}
    capture = recording(lines=[{**line, **looked, "folders": {"configs": empty}}, end], root="../..")
    for name in ("result", "../out.json"):
        (tmp_path / name).write_text("{}")
    assert stale(capture, "cap") is None
    (tmp_path / "b.json").write_text("{}")
    assert stale(capture, "cap").startswith("b.json was not there when it was recorded; record it again: kprof capture")
    (tmp_path / "c.json").write_text("{}")
    (tmp_path / "configs" / "x.json").write_text("{}")
    (tmp_path / "a").write_text("2")
    words = (
        "a changed since it was recorded; b.json, c.json were not there when it was recorded; "
        "configs contained other files"
    )
    assert stale(capture, "cap").startswith(words)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["/usr/bin/python3.11", "-"], "a program from standard input"),
        (["python"], "a program from standard input"),
        (["/bin/sh", "run.sh"], "what sh read"),
        (["make", "train"], "what make read"),
        (["python", "-c", "import train"], ""),
        (["python", "train.py", "-"], ""),
        (["run-of-python", "train.py"], ""),
        (["run-of-pip", "train.py"], ""),
        (["run-of-shell", "train.py"], "what run-of-shell read"),
        (["run-elsewhere", "train.py"], "what run-elsewhere read"),
        ([], ""),
    ],
)
def test_what_no_python_read_is_named(recording, tmp_path, monkeypatch, command, said):
    """Standard input is gone, and what a shell reads nobody saw: neither can be compared."""
    by_pip = "#!/bin/sh\n'''exec' /x/python3"
    for name, text in (("python", "#!/x/python3"), ("pip", by_pip), ("shell", "#!/bin/sh\nexec python")):
        script = tmp_path / f"run-of-{name}"
        script.write_text(f"{text} \n")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    recording(command=command)
    checked = list(captured(KernelEntry(target="cap"), str(tmp_path / "captures/train"), ["gfx942"]))
    assert checked[-1].left_out == (
        f"cap was made from {said}, which kprof cannot compare with their current state" if said else ""
    )


def test_more_files_than_are_kept_are_named(recording, tmp_path):
    """A tile in one of the others may have changed."""
    recording(lines=[{"t": "sources", "overflowed": True}, {"t": "end"}])
    checked = list(captured(KernelEntry(target="cap"), str(tmp_path / "captures/train"), ["gfx942"]))
    assert (
        checked[-1].left_out == "cap was made from files beyond the first 10,000, which kprof cannot "
        "compare with their current state"
    )


@pytest.mark.parametrize(("count", "words"), [(3, "a0, a1, a2"), (4, "a0, a1, a2 and 1 more")])
def test_everything_that_is_not_compared_is_in_one_sentence(count, words):
    """Each kind, three names of each."""
    names = [f"a{number}" for number in range(count)]
    capture = SimpleNamespace(
        outside=dict.fromkeys(names, ""),
        installed=SimpleNamespace(missing=["vllm"], other_versions=["aiter==1 (here aiter==2)"]),
        imported={"msgspec": "0.0"},
        head=SimpleNamespace(command=["python3", "-"]),
        overflowed=True,
    )
    assert _elsewhere(capture, "cap") == (
        f"cap was made from {words} outside the work tree and from vllm, not installed here and from data of "
        f"aiter==1 (here aiter==2) and from modules of msgspec 0.0 (here {msgspec.__version__}) and from files "
        "beyond the first 10,000 and from a program from standard input, "
        "which kprof cannot compare with their current state"
    )
