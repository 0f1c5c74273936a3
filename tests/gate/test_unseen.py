"""What could not be looked at is part of every verdict: no listing, an undecoded instruction, a file cut short."""

import json
from pathlib import Path

import pytest

from kprof.inputs.code_object import disassembly

ARTIFACTS = Path(__file__).resolve().parents[1] / "artifacts" / "gfx942"
OBJECT = ARTIFACTS / "matmul.triton-3.9.0.hsaco"
LISTING = ARTIFACTS / "matmul.triton-3.9.0.amdgcn"
MISSING = "no disassembler is installed"


@pytest.fixture
def blind(monkeypatch):
    """A machine without any disassembler."""
    monkeypatch.setattr(disassembly, "_objdumps", lambda: ())
    monkeypatch.setattr(disassembly, "find_library", lambda: None)


@pytest.fixture
def alone(tmp_path):
    """The object with nothing beside it."""
    path = tmp_path / "alone.hsaco"
    path.write_bytes(OBJECT.read_bytes())
    return path


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Puts files under a gate that asks for nothing but that they be looked at."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    def under(*files):
        kernels = "".join(f'[[kernel]]\ntarget = "{file}"\n' for file in files)
        (tmp_path / "kprof.toml").write_text(f'arch = ["gfx942"]\nfail_on = "never"\n{kernels}')
        return tmp_path

    return under


def damaged():
    """The listing with one mnemonic that no assembler knows."""
    text = LISTING.read_text()
    assert text.count("s_endpgm") >= 1
    return text.replace("\ts_endpgm", "\tv_no_such_thing v0, v1\n\ts_endpgm", 1)


def cut():
    """The first half of the listing."""
    text = LISTING.read_text()
    return text[: text.index("\n", text.index("s_endpgm") // 2) + 1]


def test_a_code_object_that_nobody_can_disassemble_is_never_ok(blind, gate, kprof):
    """The verdict's own line has the reason; the document has neither coverage nor loops."""
    folder = gate("k.hsaco")
    (folder / "k.hsaco").write_bytes(OBJECT.read_bytes())
    ran = kprof("check", "--json", "out.json")
    assert ran.code == 2
    verdict = ran.out.splitlines()[-1]
    assert verdict.startswith("cannot tell: 1 of 1 check could not be judged: matmul on gfx942: ")
    assert MISSING in verdict
    (kernel,) = json.loads(Path("out.json").read_text())["kernels"]
    assert kernel["coverage"] is None
    assert MISSING in kernel["unseen"]


def test_a_regression_wins_over_what_was_not_seen(blind, gate, kprof):
    """Registers stand in the object's descriptor: a budget that they break is broken without a listing."""
    folder = gate("k.hsaco")
    (folder / "k.hsaco").write_bytes(OBJECT.read_bytes())
    config = folder / "kprof.toml"
    config.write_text(f"budget = {{max_vgpr_allocated = 1}}\n{config.read_text()}")
    ran = kprof("check")
    assert ran.code == 1
    assert ran.out.splitlines()[-1].startswith("regression: 1 of 1 check fail, 1 cannot be determined: ")


@pytest.mark.parametrize("suffix", ["amdgcn", "s"])
def test_a_listing_beside_the_object_is_used(blind, gate, kprof, suffix):
    """A folder of Triton's cache needs no disassembler."""
    folder = gate("cache")
    (folder / "cache").mkdir()
    (folder / "cache" / "matmul.hsaco").write_bytes(OBJECT.read_bytes())
    (folder / "cache" / f"matmul.{suffix}").write_bytes(LISTING.read_bytes())
    assert kprof("check").code == 0


@pytest.mark.parametrize("suffix", ["amdgcn", "s"])
def test_a_lone_object_looks_beside_itself(blind, gate, kprof, suffix):
    """Named as a file it finds its listing, too, and says so; loops and coverage are the listing's."""
    folder = gate("matmul.hsaco")
    (folder / "matmul.hsaco").write_bytes(OBJECT.read_bytes())
    (folder / f"matmul.{suffix}").write_bytes(LISTING.read_bytes())
    ran = kprof("check", "--json", "out.json")
    assert ran.code == 0
    (kernel,) = json.loads(Path("out.json").read_text())["kernels"]
    assert (kernel["coverage"], len(kernel["loops"])) == (1.0, 1)
    assert any(f"matmul.{suffix} next to it" in note for note in kernel["notes"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("; codeLenInByte = 2908", "; codeLenInByte = 2912"),
        (".vgpr_spill_count: 0", ".vgpr_spill_count: 1"),
        ("gfx942", "gfx950"),
        (".end_amdgpu_metadata", ""),
    ],
)
def test_a_listing_of_another_compile_is_not_the_objects(blind, gate, kprof, old, new):
    """Left over beside it, of another architecture, or cut short: nothing was seen of this object."""
    folder = gate("matmul.hsaco")
    (folder / "matmul.hsaco").write_bytes(OBJECT.read_bytes())
    text = LISTING.read_text()
    assert old in text
    (folder / "matmul.amdgcn").write_text(text.replace(old, new))
    ran = kprof("check")
    assert ran.code == 2
    assert MISSING in ran.out.splitlines()[-1]


@pytest.mark.parametrize(("text", "reason"), [(damaged, "1 of its"), (cut, "only a part")])
def test_listings_that_are_not_whole_are_never_ok(gate, kprof, text, reason):
    """One instruction that could not be decoded is enough."""
    folder = gate("k.amdgcn")
    (folder / "k.amdgcn").write_text(text())
    ran = kprof("check")
    assert ran.code == 2
    assert reason in ran.out.splitlines()[-1]
    ran = kprof("analyze", "kernel", folder / "k.amdgcn")
    assert ran.code == 2
    assert reason in " ".join(ran.out[ran.out.index("cannot tell: ") :].split())


def test_analyze_says_what_it_has_not_seen(blind, alone, kprof):
    """No word about loops where no instruction was seen, and none about time."""
    ran = kprof("analyze", "kernel", alone, "--no-color")
    assert ran.code == 2
    assert "straight-line" not in ran.out
    assert "Bound by" not in ran.out
    verdict = " ".join(ran.out[ran.out.index("cannot tell: ") :].split())
    assert MISSING in verdict


def test_diff_does_not_call_blindness_an_improvement(blind, alone, kprof):
    """A rule that had nothing to look at on the new side has not been cured."""
    ran = kprof("diff", LISTING, alone)
    assert ran.code == 2
    assert "better" not in ran.out
    assert MISSING in " ".join(ran.out.split())
    ran = kprof("diff", alone, alone)
    assert ran.code == 2
    assert MISSING in ran.out


def test_a_whole_listing_is_seen(gate, kprof):
    """The quiet case: full coverage, no word."""
    folder = gate("k.amdgcn")
    (folder / "k.amdgcn").write_bytes(LISTING.read_bytes())
    ran = kprof("check", "--json", "out.json")
    assert ran.code == 0
    (kernel,) = json.loads(Path("out.json").read_text())["kernels"]
    assert kernel["coverage"] == 1.0
    assert "unseen" not in kernel
