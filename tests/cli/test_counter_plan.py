"""Which counters decide a finding, in how many passes, and the input files that collect them."""

import json

import pytest

from kprof import counter_plan
from kprof.errors import KprofError
from kprof_analyzers.profiles.counters.planning import LIMITS, block_of


def test_a_finding_names_the_counters_that_decide_it(kprof):
    """Bank conflicts: two counters of one block fit one pass."""
    done = kprof("counters", "plan", "lds-bank-conflicts", "--arch", "MI300X", "--json", "-")
    document = json.loads(done.out)
    assert document["passes"] == [["SQ_LDS_BANK_CONFLICT", "SQ_LDS_IDX_ACTIVE"]]
    assert document["questions"][0]["name"] == "KP112"
    assert (document["gpu"], document["arch"], document["blocks"]) == ("MI300X", "gfx942", ["SQ"])
    # RDNA calls the block SQC.
    rdna = counter_plan("KP112", arch="gfx1201")
    assert rdna.plan.passes[0].counters == ("SQC_LDS_BANK_CONFLICT", "SQC_LDS_IDX_ACTIVE")


@pytest.mark.parametrize(("arch", "passes"), [("gfx90a", 1), ("gfx942", 2), ("gfx950", 2)])
def test_no_pass_asks_a_block_for_more_than_it_counts(arch, passes):
    """The limits are those of rocprof-compute's tables; HBM traffic of MI300 takes five of TCC, which counts four."""
    found = counter_plan("KP101", arch=arch).plan
    assert len(found.passes) == passes
    for each in found.passes:
        blocks = [block_of(counter) for counter in each.counters]
        assert all(blocks.count(block) <= LIMITS[block] for block in blocks)
    assert {counter for each in found.passes for counter in each.counters} == set(found.questions[0].counters)


def test_input_files_of_the_profilers(kprof, tmp_path):
    """The same passes in each form of rocprofv3, and the blocks for rocprof-compute."""
    done = kprof("counters", "plan", "KP101", "--arch", "MI300X", "-o", tmp_path)
    assert done.code == 0
    assert "2 passes, 10 counters for 1 question (MI300X)" in done.out
    lines = (tmp_path / "rocprofv3.txt").read_text().splitlines()
    assert [line.split(":")[0] for line in lines] == ["pmc", "pmc"]
    yaml = (tmp_path / "rocprofv3.yaml").read_text()
    assert yaml.count("- pmc: [") == 2
    for line in lines:
        assert f"[{', '.join(line.removeprefix('pmc: ').split())}]" in yaml
    assert "--block GRBM SQ TCC" in (tmp_path / "rocprof-compute.sh").read_text()


def test_a_metric_and_what_cannot_be_counted(kprof):
    """A metric by its name; RDNA has no matrix unit's counter."""
    assert counter_plan("clock", arch="gfx942").plan.passes[0].counters == ("GRBM_GUI_ACTIVE",)
    assert "mfma_utilization" in counter_plan("KP101", arch="gfx1201").summary
    done = kprof("counters", "plan", "clock", "--arch", "gfx1201")
    assert "profile_standard" in done.out


def test_a_finding_that_no_counter_decides_and_names_that_there_are_not(kprof):
    """One message each."""
    done = kprof("counters", "plan", "lds-bank-conflict")
    assert done.code == 2
    assert "lds-bank-conflicts" in done.err
    with pytest.raises(KprofError, match="accepts one --arch"):
        counter_plan("KP112", arch="gfx942,gfx950")


@pytest.mark.triton
def test_a_kernel_is_asked_about_its_findings(kprof):
    """Each of its findings that counters decide, in one plan."""
    found = counter_plan("flash_attention", arch="MI300X")
    named = {each.name for each in found.plan.questions}
    assert named
    assert all(each.numbers for each in found.plan.questions)
    assert len(found.to_frame()) == sum(len(each.counters) for each in found.plan.passes)
