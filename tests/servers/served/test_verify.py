"""Short lists measured: what becomes of the times, by a played worker; what the launches compute, interpreted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kprof
from kprof import children
from kprof.bench.document import Device, MachinePeaks
from kprof.errors import HardwareError, KprofError
from kprof.hardware.machine import load_gpu
from kprof.importing.functions import load_function
from kprof.tuning import verify as tuning_verify
from kprof_servers.pull_request import pull_request
from kprof_servers.served.aiter import AiterServer
from kprof_servers.served.aiter_launches import AiterProduct
from kprof_servers.served.document import PredictedConfig, RankedBatch
from kprof_servers.served.kernel_source import cut
from kprof_servers.served.proposals import proposed
from kprof_servers.served.served_kernel import write_file
from kprof_servers.served.subject import ServedSubject
from kprof_servers.served.verify import check, in_order
from kprof_servers.server_configs_text import ServerConfigsTextReporter

TESTS = Path(__file__).resolve().parents[2]
DEVICE = Device("AMD Instinct MI300X", "rocm", "gfx942", {}, 192 << 30, MachinePeaks())

WORKER = """
import json, sys
for line in sys.stdin:
    task = json.loads(line)["task"]
    config = task["config"]
    found = {"kernel": "served", "case": task["case"], "shape": task["shape"], "provider": "triton", "status": "ok",
             "config": config}
    if config["BLOCK_SIZE_M"] == 64 and task["shape"]["rows"] == 64:
        found["status"], found["message"] = "wrong", "element 3 of (64, 1024): 2.0, expected 1.0"
    else:
        ms = 0.001 * config["NUM_KSPLIT"] + 0.0001 * config["BLOCK_SIZE_M"]
        found["timing"] = {**dict.fromkeys(("median", "p10", "p90", "least"), ms), "samples": 20, "method": "events",
                           "calls": 1, "buffers": 2}
    print(json.dumps({"measurement": found}), flush=True)
"""


def one(us, measured=None, block=16):
    """A configuration with a predicted and a measured time."""
    return PredictedConfig({"BLOCK_SIZE_M": block}, us, us, us, measured_us=measured)


def test_the_fastest_of_what_was_measured_is_proposed():
    """Not what was predicted; what failed comes last, and its prediction is compared with nothing."""
    batch = RankedBatch(8, runs=one(50.0), best=one(20.0, block=32), runners_up=[one(30.0, block=64)])
    slow, fast, failed = one(20.0, 40.0, 32), one(30.0, 25.0, 64), one(10.0, block=128)
    found = in_order(batch, one(50.0, 45.0), [slow, failed, fast])
    assert (found.best, found.runners_up, found.tie) == (fast, [slow, failed], False)
    assert (found.measured, found.time_us(fast), found.slower) == (True, 25.0, False)


def test_what_runs_today_is_kept_where_nothing_beats_it():
    """It is then a tie with itself, be it on the list or not; two percent are no difference."""
    batch = RankedBatch(8, runs=one(50.0), best=one(20.0, block=32))
    found = in_order(batch, one(50.0, 20.0), [one(20.0, 30.0, 32)])
    assert (found.best, found.tie) == (one(50.0, 20.0), True)
    assert [each.config["BLOCK_SIZE_M"] for each in found.runners_up] == [32]
    assert in_order(batch, one(50.0, 20.0), [one(20.0, 19.7, 32)]).tie
    assert not in_order(batch, one(50.0, 20.0), [one(20.0, 19.0, 32)]).tie


def test_without_a_measurement_nothing_is_proposed():
    """A file must not promise what did not run."""
    found = in_order(RankedBatch(8, best=one(20.0)), None, [one(20.0)])
    assert (found.best, found.reason, found.measured) == (
        None,
        "the short list could not be measured",
        False,
    )


def test_another_gpu_measures_nothing():
    """The order on one is not the other's."""
    with pytest.raises(
        KprofError, match=r"this machine's GPU is AMD Instinct MI300X \(gfx942\), the files are for gfx950"
    ):
        check(DEVICE, "gfx950")
    check(DEVICE, "gfx942")


def test_without_a_gpu_nothing_is_compiled(aiter_checkout, model_folder, monkeypatch):
    """One refusal, before the first kernel."""

    def none():
        raise HardwareError("--verify: no GPU")

    monkeypatch.setattr(tuning_verify, "find_device", none)
    said = []
    with pytest.raises(HardwareError, match="--verify: no GPU"):
        kprof.server_configs(
            model_folder, server="aiter", arch="MI300X", server_path=aiter_checkout, verify=True,
            progress=lambda name, _state: said.append(name),
        )  # fmt: skip
    assert said == []


@pytest.mark.triton
def test_files_get_what_was_measured(aiter_checkout, model_folder, tmp_path, monkeypatch):
    """From the model to files, on a played GPU on which fewer parts of K are faster and one result is wrong."""
    monkeypatch.setattr(tuning_verify, "find_device", lambda: DEVICE)
    # The workers that compile are the real ones.
    played = f"import sys\nexec({WORKER!r} if sys.argv[1] == 'kprof.bench.worker' else {children.START!r})"
    monkeypatch.setattr(children, "START", played)
    said = []
    found = kprof.server_configs(
        model_folder, server="aiter", arch="MI300X", batches=[1, 64], server_path=aiter_checkout, verify=True, jobs=1,
        report=said.append,
    )  # fmt: skip
    document = found.document
    files = [file for file in document.needed if file.ranked]
    assert document.measured_on == "AMD Instinct MI300X"
    for file in files:
        for batch in file.ranked:
            times = [each.measured_us for each in (batch.best, *batch.runners_up) if each.measured_us is not None]
            assert times == sorted(times)
            assert batch.runs.measured_us == pytest.approx(2.6)
            assert batch.best.measured_us <= batch.runs.measured_us
        wrong = [each for each in file.ranked[1].runners_up if each.config["BLOCK_SIZE_M"] == 64]
        assert wrong
        assert all(each.failure.startswith("wrong: element 3") for each in wrong)
    assert any("measured, " in text and "predicted" in text for text in said)
    text = ServerConfigsTextReporter(120).render(document)
    assert "measured on AMD Instinct MI300X" in text
    assert "nothing was measured" not in text
    request = pull_request(document, proposed(document))
    assert "**The short list of each batch was measured on AMD Instinct MI300X**" in request
    assert "Nothing here was measured" not in request
    found.write(tmp_path / "out")
    runners = json.loads((tmp_path / "out" / "runners_up.json").read_text())
    listed = [each for file in runners.values() for rows in file.values() for each in rows]
    assert all(("measured_us" in each) != ("not_measured" in each) for each in listed)


INTERPRETED = """
import json, sys
sys.path.insert(0, sys.argv[2])
from kernels.interpreter import worst
from kprof.bench.interpreter import mend_interpreter
from kprof.targets import library
mend_interpreter()
kernel = library.load(sys.argv[1])
config = kernel.configure("gfx942", json.loads(sys.argv[3]), {"rows": 5})
inputs = kernel.inputs({"rows": 5}, "cpu", 0)
expected = kernel.reference(inputs, {"rows": 5})
for _ in range(2):
    outputs = kernel.run(inputs, {"rows": 5}, config)
assert outputs.keys() == expected.keys()
print(max(worst(outputs[name], expected[name], *kernel.tolerance({}))["ratio"] for name in expected))
"""


@pytest.mark.triton
@pytest.mark.parametrize("parts", [1, 4])
def test_what_is_measured_computes_the_product(aiter_checkout, parts):
    """The server's own kernel in Triton's interpreter, with the launches that were ranked: as torch has it."""
    pytest.importorskip("torch")
    arch, product = load_gpu("MI300X")

    def function(place):
        return load_function(cut(aiter_checkout, aiter_checkout / place[0], place[1]), place[1])

    main, others = AiterServer.kernels["GEMM-A16W16"][0], {part: AiterServer.parts[part] for part in AiterProduct.parts}
    subject = ServedSubject(
        "served", function(main), arch, product, AiterProduct("GEMM-A16W16", 64, 256, "bf16"), (5,),
        parts={label: function(places[0]) for label, places in others.items()},
    )  # fmt: skip
    config = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 1, "num_warps": 4,
              "NUM_KSPLIT": parts, "cache_modifier": None}  # fmt: skip
    ended = subprocess.run(
        [sys.executable, "-c", INTERPRETED, str(write_file(subject)), str(TESTS), json.dumps(config)],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(TESTS.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert float(ended.stdout) <= 1
