"""kprof validate: the model against measurements."""

import json

import pytest

import kprof as kp
from tests.analyzers.profiles.measured import making

pytestmark = pytest.mark.triton


@pytest.fixture
def measured(kprof, tmp_path):
    """``measured(factor)``: a folder with a launch of the softmax that takes so many times the predicted time."""
    (kernel,) = json.loads(kprof("analyze", "kernel", "softmax", "--arch", "MI300X", "--json", "-").out)["kernels"]
    taken, model = kernel["resources"], kernel["model"]

    def make(factor, **options):
        folder = tmp_path / f"counters-{factor}"
        folder.mkdir()
        making.agents(folder)
        kept = {"lds": -(-taken["lds_bytes"] // 512) * 512, "vgprs": taken["vgpr_allocated"]}
        kept |= {"warps": taken["num_warps"], "name": "softmax_kernel"}
        path = making.collection(folder, making.counted(), runs=3, **kept | options)
        size = 64 * taken["num_warps"]
        text = path.read_text().replace(f",{4096 * size},12,", f",{model['workgroups'] * size},12,")
        for run in range(1, 4):
            start = run * 10_000_000
            end = start + round(1000 * model["time_us"] * factor)
            text = text.replace(f"{start},{start + making.NANOSECONDS}", f"{start},{end}")
        path.write_text(text)
        return folder

    return make


@pytest.mark.parametrize(
    ("factor", "code", "standing"), [(1, 0, "confirmed"), (50, 1, "refuted"), (0.01, 1, "refuted")]
)
def test_the_exit_code_is_the_verdict(kprof, measured, factor, code, standing):
    """As predicted, far slower, far faster; the last line says it, and so does the document."""
    folder = measured(factor)
    ran = kprof("validate", "softmax", "--counters", folder)
    assert ran.code == code, ran.err
    assert ran.out.strip().splitlines()[-1].startswith(f"{standing}: 1 kernel measured; time ")
    document = json.loads(kprof("validate", "softmax", "--counters", folder, "--json", "-").out)
    assert (document["schema"], document["standing"]) == ("kprof.validation/1", standing)
    times = {one["id"]: one for one in document["kernels"][0]["comparisons"]}["time_us"]
    assert times["measured"] == pytest.approx(times["modelled"] * factor, abs=0.001)


def test_another_build_cannot_be_told(kprof, measured):
    """Other LDS: exit code 2, with what differs, however near the times are."""
    ran = kprof("validate", "softmax", "--counters", measured(1, lds=65536))
    assert ran.code == 2
    assert "cannot tell: 1 kernel measured" in ran.out
    assert "65536" in ran.out


def test_nothing_to_validate_against(kprof):
    """Said before anything is compiled."""
    ran = kprof("validate", "softmax")
    assert ran.code == 2
    assert "no measurement is named" in ran.err


def test_the_frame_has_each_quantity(measured):
    """As the document."""
    found = kp.validate("softmax", counters=measured(1))
    frame = found.to_frame()
    assert {"time_us", "cycles"} <= set(frame["quantity"])
    assert frame.set_index("quantity").loc["time_us", "ratio"] == pytest.approx(1, rel=1e-3)
    assert found.standing == "confirmed"
