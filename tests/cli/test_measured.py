"""kprof analyze kernel and kprof report with --counters and --trace."""

import json

import pytest

from tests.analyzers.profiles.measured import making

pytestmark = pytest.mark.triton


@pytest.fixture
def softmax(kprof, tmp_path):
    """The compiled softmax, and a folder of counters of a launch just like it."""
    ran = kprof("analyze", "kernel", "softmax", "--arch", "MI300X", "--json", "-")
    (kernel,) = json.loads(ran.out)["kernels"]
    folder = tmp_path / "counters"
    folder.mkdir()
    making.agents(folder)
    taken = kernel["resources"]

    def write(**options):
        kept = {"lds": -(-taken["lds_bytes"] // 512) * 512, "vgprs": taken["vgpr_allocated"]}
        kept |= {"warps": taken["num_warps"], "name": "softmax_kernel"}
        making.collection(folder, making.counted(), runs=3, **kept | options)
        return folder

    return kernel, write


def test_measured_beside_modelled(kprof, softmax):
    """The GPU is the measured one; the text and the document have both sides."""
    kernel, write = softmax
    folder = write()
    ran = kprof("analyze", "kernel", "softmax", "--counters", folder)
    assert ran.code == 0, ran.err
    for words in ("Measured on MI300X", "counters: 3 runs, sure to be it", "time of a launch", "2,000 us"):
        assert words in ran.out
    (joined,) = json.loads(kprof("analyze", "kernel", "softmax", "--counters", folder, "--json", "-").out)["kernels"]
    beside = {one["id"]: one for one in joined["measured"]["comparisons"]}
    assert beside["time_us"]["modelled"] == pytest.approx(kernel["model"]["time_us"])
    assert beside["time_us"]["measured"] == pytest.approx(2000)
    assert "measured" not in kernel


def test_another_build_decides_nothing(kprof, softmax):
    """Other registers: the numbers are there, and nothing is confirmed or refuted."""
    kernel, write = softmax
    folder = write(vgprs=kernel["resources"]["vgpr_allocated"] + 64)
    (joined,) = json.loads(kprof("analyze", "kernel", "softmax", "--counters", folder, "--json", "-").out)["kernels"]
    measured = joined["measured"]
    assert measured["matches"][0]["confidence"] == "likely"
    assert {one["standing"] for one in measured["comparisons"]} == {"cannot tell"}
    assert {one["standing"] for one in measured["judgements"]} <= {"not measured"}


def test_the_page_has_it(kprof, softmax, tmp_path):
    """Numbers as text, beside the model."""
    _, write = softmax
    ran = kprof("report", "softmax", "--counters", write(), "-o", tmp_path / "page.html")
    assert ran.code == 0, ran.err
    page = (tmp_path / "page.html").read_text()
    assert "Measured on MI300X" in page
    assert "time of a launch" in page


def test_what_was_not_measured(kprof, softmax):
    """Another kernel's counters: exit code 2. Beside a kernel that was measured: a remark."""
    _, write = softmax
    folder = write()
    ran = kprof("analyze", "kernel", "rmsnorm", "--counters", folder)
    assert ran.code == 2
    assert "in the counters" in ran.err
    ran = kprof("analyze", "kernel", "softmax", "--arch", "gfx942,gfx950", "--counters", folder)
    assert ran.code == 2
    assert "belongs to one GPU" in ran.err


def test_a_saved_report_takes_no_measurements(kprof, softmax, tmp_path):
    """It has no kernel to be joined; said, instead of left out."""
    _, write = softmax
    assert kprof("analyze", "kernel", "softmax", "--json", tmp_path / "r.json").code == 0
    ran = kprof("analyze", "kernel", tmp_path / "r.json", "--counters", write())
    assert ran.code == 2
    assert "cannot be combined with measurements" in ran.err
