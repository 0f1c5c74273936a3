"""``kprof capture``: what can go wrong before and around the program. What it records: tests/recording."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def output(tmp_path):
    """A directory that is not there yet."""
    return tmp_path / "capture"


def test_a_program_without_triton_is_told(kprof, output):
    """Nothing was recorded: cannot tell."""
    ran = kprof("capture", "-o", output, "--", sys.executable, "-c", "print('hello')")
    assert ran.code == 2
    assert "no process of the program compiled a Triton kernel" in ran.err
    assert json.loads((output / "capture.json").read_text())["command"][1:] == ["-c", "print('hello')"]


def test_the_programs_own_options_reach_it(kprof, output):
    """Everything after its name is the program's, also what kprof has options of the same name for."""
    code = "import sys; sys.exit(sys.argv[1:] != ['--arch', 'x', '-o', 'y', '--json'])"
    ran = kprof("capture", "-o", output, "--", sys.executable, "-c", code, "--arch", "x", "-o", "y", "--json")
    assert "exit status" not in ran.out
    again = kprof("capture", "--force", "-o", output, sys.executable, "-c", code, "--arch", "x", "-o", "y", "--json")
    assert "exit status" not in again.out
    assert json.loads((output / "capture.json").read_text())["arch"] == "gfx942"


def test_a_failing_program_is_told_in_the_verdict(kprof, output):
    """With its exit status."""
    ran = kprof("capture", "-q", "-o", output, "--", sys.executable, "-c", "raise SystemExit(7)")
    assert ran.code == 2
    assert ran.out.splitlines()[-1].endswith("the program failed with exit status 7")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--arch", "gfx94x"), "no architecture or product 'gfx94x'"),
        (("--", "no-such-program"), "cannot be run"),
    ],
)
def test_mistakes_are_one_message(kprof, output, arguments, message):
    """Before anything is run."""
    program = () if "--" in arguments else ("--", sys.executable, "-c", "pass")
    ran = kprof("capture", "-o", output, *arguments, *program)
    assert ran.code == 2
    assert message in ran.err


def test_a_capture_is_not_overwritten_by_accident(kprof, output):
    """``--force`` says that it is meant."""
    program = ("--", sys.executable, "-c", "pass")
    kprof("capture", "-o", output, *program)
    again = kprof("capture", "-o", output, *program)
    assert again.code == 2
    assert "--force replaces it" in again.err
    assert "contains a capture" not in kprof("capture", "--force", "-o", output, *program).err


def test_the_summary_as_json(kprof, output):
    """``--json -`` prints nothing else."""
    ran = kprof("capture", "--json", "-", "-o", output, "--", sys.executable, "-c", "pass")
    document = json.loads(ran.out)
    assert document["kernels"] == []
    assert document["program"]["status"] == 0


def test_the_environments_own_sitecustomize_still_runs(output, tmp_path):
    """The one that starts the recording hides none."""
    (tmp_path / "sitecustomize.py").write_text("print('own sitecustomize')\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT), str(ROOT / "analyzers")])
    program = [sys.executable, "-c", "import sitecustomize; print('then me')"]
    ran = subprocess.run(
        [sys.executable, "-m", "kprof", "capture", "-q", "-o", str(output), "--", *program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    # Once for kprof itself, once for the program.
    assert ran.stdout.splitlines()[:3] == ["own sitecustomize", "own sitecustomize", "then me"]


@pytest.mark.triton
@pytest.mark.parametrize("keep", [True, False])
def test_secrets_of_the_command_line_are_not_kept(kprof, output, keep):
    """In no file of the capture; with --no-argv nothing of the command line is."""
    pytest.importorskip("torch", reason="the program uses torch")
    program = Path(__file__).parents[1] / "recording" / "programs" / "many.py"
    secrets = [
        "--token=S3CRET",
        "--password",
        "S3CRET",
        "WANDB_API_KEY=S3CRET",
        "https://me:S3CRET@host/x",
        "--steps=KEPT",
    ]
    kprof("capture", *(() if keep else ("--no-argv",)), "-o", output, "--", sys.executable, program, *secrets)
    files = [path for path in output.rglob("*") if path.is_file()]
    journals = [path for path in files if path.suffix == ".jsonl"]
    assert journals
    assert not [path for path in files if b"S3CRET" in path.read_bytes()]
    kept = [path for path in files if b"KEPT" in path.read_bytes()]
    assert ({output / "capture.json", *journals} <= set(kept)) is keep
    assert bool(kept) is keep
