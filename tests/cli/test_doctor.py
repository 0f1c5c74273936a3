"""``kprof doctor`` on the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]


def write(root, files):
    """Files below a root."""
    for path, content in files.items():
        full = root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(content)


def test_this_machine_can_be_looked_at(kprof):
    """Whatever it is: a verdict as the last line, no traceback, exit code 0 or 1."""
    ran = kprof("doctor")
    assert ran.code in {0, 1}
    assert ran.err == ""
    assert "read assembly, code objects" in ran.out
    assert ran.out.splitlines()[-1]


def test_a_machine_without_a_gpu_is_fine(kprof, tmp_path):
    """Exit code 0, and it says what works."""
    ran = kprof("doctor", "--root", tmp_path)
    assert ran.code == 0
    assert ran.out.splitlines()[-1].startswith("no AMD GPU here")
    assert "Not checked, because there is no AMD GPU:" in ran.out
    assert kprof("doctor", "--root", tmp_path, "--quiet").out.count("\n") == 1


def test_a_failure_has_exit_code_1_and_its_fix(kprof, tmp_path):
    """A GPU that cannot be used: reason and command stand below the check; -v adds whose advice it is."""
    write(
        tmp_path,
        {
            "sys/class/kfd/kfd/topology/nodes/1/properties": "simd_count 1216\ngfx_target_version 90402\n",
            "proc/sys/kernel/numa_balancing": "1\n",
        },
    )
    ran = kprof("doctor", "--root", tmp_path, "-v")
    assert ran.code == 1
    assert "fail     device-access" in ran.out
    assert "$ sudo sysctl kernel.numa_balancing=0" in ran.out
    assert "system optimization guide" in ran.out
    assert ran.out.splitlines()[-1].startswith("measurements here would be wrong or fail: ")
    # Commands stay whole, to be copied; everything else is wrapped.
    assert max(len(line) for line in ran.out.splitlines() if "docker" not in line and "$ " not in line) <= 100


def test_a_workload_s_settings_and_their_script(kprof, tmp_path):
    """What the workload wants is told; --fix is a script of it, and nothing else is printed."""
    ran = kprof("doctor", "--root", tmp_path, "--workload", "training")
    assert ran.code == 0
    assert "GPU_MAX_HW_QUEUES: not set, wanted: 2" in ran.out
    ran = kprof("doctor", "--root", tmp_path, "--workload", "training", "--fix")
    assert "export GPU_MAX_HW_QUEUES=2" in ran.out.splitlines()
    assert all(line.startswith(("#", "export ", "unset ")) for line in ran.out.splitlines() if line)
    found = json.loads(kprof("doctor", "--root", tmp_path, "--workload", "vllm", "--json", "-").out)
    assert found["workload"] == "vllm"
    jsonschema.validate(found, json.loads(kprof("schema", "doctor").out))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--workload", "trainin"], "training"),
        (["--fix", "--quiet"], "exclude each other"),
        (["--fix", "--json", "-"], "standard output"),
    ],
)
def test_options_that_cannot_be_used(kprof, options, words):
    """One message, exit code 2."""
    ran = kprof("doctor", *options)
    assert ran.code == 2
    assert words in ran.err


def test_the_document(kprof, tmp_path):
    """kprof.doctor/1 on standard output, alone."""
    ran = kprof("doctor", "--root", tmp_path, "--json", "-")
    found = json.loads(ran.out)
    assert found["schema"] == "kprof.doctor/1"
    assert found["verdict"]["status"] == "ok"
    assert {"check", "section", "status", "found"} <= set(found["checks"][0])
    jsonschema.validate(found, json.loads(kprof("schema", "doctor").out))
    assert all(outcome["status"] in {"ok", "warn", "unknown"} for outcome in found["checks"])


def test_a_root_that_is_not_there(kprof, tmp_path):
    """One message, exit code 2."""
    ran = kprof("doctor", "--root", tmp_path / "absent")
    assert ran.code == 2
    assert "no such folder" in ran.err


def test_it_imports_nothing_heavy(tmp_path):
    """Torch and Triton are looked at and not imported, so that it answers at once."""
    code = (
        "import sys, time\nstart = time.process_time()\n"
        f"sys.argv = ['kprof', 'doctor', '--root', {str(tmp_path)!r}]\nfrom kprof.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'triton', 'torch', 'pandas', 'numpy', 'rich', 'jinja2', 'yaml', 'elftools'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy), time.process_time() - start < 1.0, file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert "heavy: [] True" in ran.stderr
