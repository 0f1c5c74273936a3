"""Captures under the gate: every specialisation of a recorded program is a check."""

import hashlib
import json
import shutil

import pytest

from kprof.captures.reader import read
from kprof.compiler.compile import compile_many
from kprof.hardware.machine import load
from kprof.options.groups import CompileOptions
from kprof.targets.jobs import plan

SIGNATURE = "*fp32:16,*fp32:16,i32:16,i32:16"
CONFIG = """[tool.kprof]
arch = ["gfx942"]
baseline = "kprof-baseline.json"
budget = {max_vgpr_spills = 0}

[[tool.kprof.kernel]]
target = "captures/train"
"""


@pytest.fixture
def capture(repository):
    """A capture of two specialisations of the repository's kernel; the program itself is gone."""
    folder = repository.root / "captures" / "train"
    (folder / "journal").mkdir(parents=True)
    jobs = [
        plan(
            f"{repository.kernel}::scale",
            [load("gfx942")],
            CompileOptions(signature=SIGNATURE, constexpr={"BLOCK": block}, config={"num_warps": 4}),
        )[0]
        for block in (1024, 2048)
    ]
    lines = [{"t": "process", "pid": 1}]
    outcomes = sorted(compile_many([job.request for job in jobs]), key=lambda outcome: outcome.index)
    for number, outcome in enumerate(outcomes):
        compiled, name = outcome.result(), f"{number:032x}"
        place = folder / "kernels" / name
        place.mkdir(parents=True)
        for stage in ("ttir", "ttgir", "amdgcn"):
            (place / f"kernel.{stage}").write_text(compiled.stages[stage])
        (place / "kernel.json").write_text(json.dumps(dict(compiled.metadata), default=str))
        (place / "result.json").write_text(json.dumps({"status": "ok", "triton": compiled.triton_version}))
        request = outcome.request.to_json()
        lines += [
            {"t": "kernel", "n": number, "id": name, "name": "scale", "triton": compiled.triton_version}
            | {"request": request, "line": compiled.source_line},
            {"t": "launch", "kernel": number, "seq": number, "grid": [64, 1, 1]},
        ]
    sources = {"kernels/scale.py": hashlib.sha256(repository.kernel.read_bytes()).hexdigest()}
    lines += [{"t": "sources", "files": sources}, {"t": "end"}]
    (folder / "journal" / "1.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    head = {"schema": "kprof.capture/1", "arch": "gfx942", "root": "../..", "command": ["python", "train.py"]}
    (folder / "capture.json").write_text(json.dumps(head))
    assert len(read(folder).kernels) == 2
    repository.config.write_text(CONFIG)
    return folder


@pytest.mark.triton
def test_each_specialisation_of_a_capture_is_a_check(repository, capture, kprof):
    """Both are in the baseline, and the next check compares them; nothing is written."""
    before = {path: path.stat().st_mtime_ns for path in capture.rglob("*")}
    ran = kprof("check", "--update-baseline")
    assert (ran.code, ran.out) == (0, f"{repository.root / 'kprof-baseline.json'}: written, 2 checks\n")
    ran = kprof("check")
    assert (ran.code, ran.out.splitlines()[-1].split(";")[0]) == (0, "ok: 2 checks, nothing is worse than the baseline")
    baseline = json.loads((repository.root / "kprof-baseline.json").read_text())
    assert list(baseline["kernels"]) == ["captures/train::scale"]
    assert len(baseline["kernels"]["captures/train::scale"]) == 2
    assert {path: path.stat().st_mtime_ns for path in capture.rglob("*")} == before


@pytest.mark.triton
def test_a_captured_kernel_is_cured(repository, capture, kprof, tmp_path):
    """The compiler's options are tried on its TTIR; the line of the program that sets one is the suggestion."""
    program = repository.root / "train.py"
    program.write_text("scale[(64,)](out, x, n, 1, BLOCK=2048, num_warps=4)\n")
    journal = capture / "journal" / "1.jsonl"
    lines = journal.read_text().splitlines()
    (at,) = [number for number, line in enumerate(lines) if '"t": "sources"' in line]
    sources = json.loads(lines[at])
    sources["files"]["train.py"] = hashlib.sha256(program.read_bytes()).hexdigest()
    lines[at] = json.dumps(sources)
    journal.write_text("\n".join(lines) + "\n")
    out = tmp_path / "out.json"
    assert kprof("check", "--update-baseline").code == 0
    kprof("check", "--json", out)
    used = [kernel["resources"]["vgpr_allocated"] for kernel in json.loads(out.read_text())["kernels"]]
    assert used[0] < used[1]
    repository.edit("max_vgpr_spills = 0", f"max_vgpr_allocated = {used[1] - 1}", repository.config)
    ran = kprof("check", "--advise", 60, "--json", out)
    assert ran.code == 1
    fine, over = json.loads(out.read_text())["kernels"]
    assert not any("gate" in finding["evidence"] for finding in fine["findings"])
    (finding,) = [found for found in over["findings"] if found["rule"] == "KP011"]
    (advice,) = finding["advice"]
    assert (advice["knob"], advice["from"], advice["to"]) == ("num_warps", 4, 8)
    assert advice["verified"]["vgpr_allocated"][1] < used[1]
    assert (advice["edit"]["file"], advice["edit"]["line"]) == ("train.py", 1)
    assert advice["edit"]["after"] == program.read_text().strip().replace("num_warps=4", "num_warps=8")


@pytest.mark.triton
def test_kernels_that_did_not_compile_in_a_capture_are_cannot_tell(repository, capture, kprof):
    """One that crashed the compiler and a damaged one leave the verdict on the others; a cut journal is told."""
    result = capture / "kernels" / f"{1:032x}" / "result.json"
    result.write_text(json.dumps({"status": "crashed", "error": "crashed: signal 6 (SIGABRT) while making llir"}))
    ran = kprof("check", "--update-baseline")
    assert (ran.code, "1 could not be determined") == (2, ran.out.split(", ")[-1].split(" and ")[0])
    ran = kprof("check")
    assert ran.code == 2
    assert "KP013 cannot-tell: crashed: signal 6 (SIGABRT) while making llir" in ran.out
    assert ran.out.splitlines()[-1].startswith("cannot tell: 1 of 2 checks could not be judged:")
    journal = capture / "journal" / "1.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-1]))
    assert "was not closed" in kprof("check").out


@pytest.mark.triton
def test_a_capture_of_another_architecture_cannot_be_told(repository, capture, kprof):
    """The message has both architectures; an absent capture is a message too."""
    ran = kprof("check", "--arch", "gfx942")
    assert ran.code == 2  # there is no baseline yet
    repository.edit("gfx942", "gfx950", repository.config)
    ran = kprof("check")
    assert ran.code == 2
    assert "the capture contains gfx942, not gfx950" in ran.out
    shutil.rmtree(capture)
    assert "no such file or directory" in kprof("check").out


AGAIN = "record it again: kprof capture --arch gfx942 --force -o captures/train -- python train.py"


@pytest.mark.triton
def test_a_capture_of_a_changed_program_is_stale(repository, capture, kprof):
    """Another text of a source, or none: exit code 2, the file and the command. A regression still wins."""
    assert kprof("check", "--update-baseline").code == 0
    text = repository.kernel.read_text()
    repository.kernel.write_text(f"{text}\n# More.\n")
    ran = kprof("check")
    assert ran.code == 2
    verdict = ran.out.splitlines()[-1]
    assert verdict.startswith("stale: 1 of 3 checks could not be judged: captures/train on gfx942: ")
    assert verdict.endswith(f"kernels/scale.py changed since it was recorded; {AGAIN}")
    repository.kernel.write_text("raise SystemExit('a capture is only read')\n")
    assert "kernels/scale.py changed" in kprof("check").out
    repository.kernel.unlink()
    assert "kernels/scale.py is gone since it was recorded" in kprof("check").out
    repository.edit("max_vgpr_spills = 0", "max_vgpr_allocated = 1", repository.config)
    assert kprof("check").code == 1
    repository.edit("max_vgpr_allocated = 1", "max_vgpr_spills = 0", repository.config)
    repository.kernel.write_text(text)
    assert kprof("check").code == 0


@pytest.mark.triton
def test_a_capture_that_does_not_say_its_sources_is_stale(repository, capture, kprof):
    """What earlier versions wrote: nobody knows what it was made from."""
    journal = capture / "journal" / "1.jsonl"
    journal.write_text("".join(x for x in journal.read_text().splitlines(keepends=True) if '"sources"' not in x))
    assert kprof("check", "--update-baseline").code == 2
    ran = kprof("check")
    assert ran.code == 2
    assert f"the capture does not say which sources it was made from; {AGAIN}" in ran.out.splitlines()[-1]
