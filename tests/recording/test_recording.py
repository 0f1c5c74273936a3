"""A real program, recorded by the command, with its children: no torch, no GPU."""

import hashlib
import json
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

import kprof
from kprof.captures.reader import launches, read
from kprof.compiler.versions import buffer_ops_default, installed
from kprof.targets.captured import load_capture
from tests.recording.conftest import capture_command, kprof_environment

pytestmark = pytest.mark.triton

PROCESSES = 4
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def capture(recorded):
    """The capture, read."""
    return read(recorded[0])


def test_the_program_and_its_children_are_recorded(capture, recorded):
    """A subprocess, a forked and a spawned process each did the same."""
    _, ran = recorded
    assert ran.stdout.splitlines()[:PROCESSES] == ["hip gfx942 64"] * PROCESSES
    assert len(capture.processes) == PROCESSES
    assert capture.complete
    counted = Counter(launch.process for launch in launches(capture.path))
    assert set(counted.values()) == {8}


def test_specialisations_are_told_apart_and_counted(capture):
    """Divisible by 16 or not, 4 or 8 warps: two kernels of one function."""
    first, second = (kernel for kernel in capture.kernels if kernel.name == "add")
    assert (first.launches, first.grids) == (3 * PROCESSES, {(4, 1, 1): 3 * PROCESSES})
    assert (second.launches, second.grids) == (PROCESSES, {(2, 3, 1): PROCESSES})
    assert first.request.attributes["n"] == {"divisibility": 16}
    assert second.request.attributes["n"] == {}
    ranges = {"pointer_range": 32} if buffer_ops_default(installed().numbers) else {}
    assert first.request.attributes["x"] == {"divisibility": 16, **ranges}
    assert second.request.options["num_warps"] == 8
    assert first.request.constexprs == {"BLOCK": 1024}
    assert ".amdgcn_target" in first.text("amdgcn")
    assert "ttg.num-warps" in first.text("ttgir")
    assert first.metadata["num_warps"] == 4


def test_call_sites_lead_to_the_program(capture):
    """The line in ``main`` and its caller."""
    (first, *_) = (launch for launch in launches(capture.path) if launch.process == 0)
    assert [place.function for place in first.site[:2]] == ["main", "<module>"]
    assert first.site[0].file.endswith("many.py")
    assert first.arguments["n"] == 4096
    assert first.arguments["x"].shape == (4096,)


def test_every_configuration_is_compiled_and_the_choice_is_unknown(capture, recorded):
    """The first configuration that can be launched stands for the choice; one that is refused does not."""
    tuned = [kernel for kernel in capture.kernels if kernel.name == "tuned"]
    assert [kernel.ok for kernel in tuned] == [False, True, True]
    refused, chosen, other = tuned
    assert "no such block" in str(refused.error)
    assert (chosen.launches, other.launches) == (2 * PROCESSES, 0)
    assert chosen.choice_unknown
    assert chosen.request.constexprs == {"BLOCK": 256, "EVEN": True}
    assert all(len(tuning.candidates) == 3 for tuning in capture.tunings)
    count = len(capture.tunings)
    assert f"{2 * count} of {3 * count} configurations were compiled" in " ".join(recorded[1].stdout.split())


def test_the_time_of_an_autotuned_kernel_says_which_configuration_it_is_of(capture):
    """Of three; what is not autotuned says nothing."""
    (tuned,) = load_capture(f"{capture.path}::tuned")
    said = "the first of its autotuner's 3 configurations that can be launched; kprof advise ranks them"
    assert list(tuned.assumed) == [said]
    (document,) = kprof.analyze(f"{capture.path}::tuned").kernels
    assert document.autotuned.listed == 3
    assert said not in document.model.assumptions
    plain = next(kernel.name for kernel in capture.kernels if kernel.ok and kernel.launches and not kernel.listed)
    assert not next(load_capture(f"{capture.path}::{plain}")).assumed


def test_an_abort_is_one_kernels_failure(capture, recorded):
    """The compiler's process died, the program and the other kernels did not."""
    (crashed,) = (kernel for kernel in capture.kernels if kernel.name == "crashes")
    assert crashed.error is not None
    assert crashed.error.startswith("crashed: signal 6 (SIGABRT)")
    assert crashed.launches == PROCESSES
    _, ran = recorded
    assert ran.returncode == 2
    assert ran.stdout.splitlines()[-1].endswith("7 specialisations: 4 compiled, 3 cannot be determined")


def test_a_second_run_is_served_from_the_cache(recorded, tmp_path):
    """Only what failed is tried again; the identifiers are the same."""
    ran = subprocess.run(
        capture_command(tmp_path / "again", "-q", "many.py", "fail"),
        capture_output=True,
        text=True,
        env=kprof_environment(),
        check=False,
    )
    again, first = read(tmp_path / "again"), read(recorded[0])
    assert [kernel.id for kernel in again.kernels] == [kernel.id for kernel in first.kernels]
    assert all(kernel.result.cached for kernel in again.kernels if kernel.ok)
    assert ran.returncode == 2
    assert "the program failed with exit status 3" in ran.stdout.splitlines()[-1]
    assert not (tmp_path / "again" / ".work").exists()


@pytest.mark.usefixtures("recorded")
def test_ctrl_c_leaves_a_usable_capture(tmp_path):
    """The program ends at once, and what was compiled by then is there."""
    process = subprocess.Popen(
        capture_command(tmp_path / "cut", "--no-cache", "many.py", "wait"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=kprof_environment(),
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509  # no threads here
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("waiting"):
            os.killpg(process.pid, signal.SIGINT)
            break
    started = time.monotonic()
    printed = process.communicate()[0]
    assert process.returncode == 130
    assert time.monotonic() - started < 60, "it slept on"
    assert printed.splitlines()[-1].endswith("interrupted")
    capture = read(tmp_path / "cut")
    assert capture.complete
    assert capture.launch_count == 8
    assert sum(kernel.ok for kernel in capture.kernels) >= 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told_and_the_program_goes_on(tmp_path, monkeypatch, capsys):
    """Lines that cannot be written end the recording, not the program."""
    from kprof.recording.journal import CaptureJournal

    journal = CaptureJournal(tmp_path)
    original = os.open
    monkeypatch.setattr(os, "open", lambda path, *rest: original("/dev/full", os.O_WRONLY))
    journal.write("note", {"text": "first"})
    journal.write("note", {"text": "second"})
    assert journal.broken == "No space left on device"
    assert capsys.readouterr().err.count("No space left on device: the rest is not recorded") == 1


def test_the_summary_as_json(recorded, kprof):
    """The same content for tools."""
    from kprof.reporters._capture_summary import summary
    from kprof.reporters.json_document import encoded

    document = json.loads(encoded(summary(read(recorded[0]))))
    assert document["schema"] == "kprof.capture.summary/1"
    assert document["launches"] == 8 * PROCESSES
    assert {kernel["status"] for kernel in document["kernels"]} == {"ok", "failed", "crashed"}


def test_the_capture_can_be_analysed(recorded, kprof):
    """Each kernel that was launched, from the capture's own files; what failed is told."""
    ran = kprof("analyze", "kernel", recorded[0], "--json", "-")
    document = json.loads(ran.out)
    assert [kernel["name"] for kernel in document["kernels"]] == ["add", "add", "tuned"]
    assert document["kernels"][0]["launch"]["grid"] == [4, 1, 1]
    assert document["kernels"][0]["resources"]["vgpr"] > 0
    assert document["verdict"]["status"] == "cannot_tell"
    assert "crashed: signal 6" in ran.err


def test_a_capture_carries_the_hashes_of_its_sources(recorded) -> None:
    """The program's own file, by its content; nothing of Python, Triton or kprof."""
    capture = read(recorded[0])
    assert capture.root.resolve() == ROOT
    assert capture.sources == {
        name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in ("tests/recording/programs/many.py",)
    }
