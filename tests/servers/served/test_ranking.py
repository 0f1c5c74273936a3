"""Files for a server that lacks them: its own kernel compiled, its tuned files asked, what comes out read back."""

import json
import re
from pathlib import Path

import pytest

import kprof
from kprof.importing.loading import load_module
from kprof_servers.served.default_config import default_config
from kprof_servers.served.devices import served_gpu
from kprof_servers.served.kernel_source import cut, cut_text
from kprof_servers.served.tuned_neighbours import TunedFile, of_gpu, read_all, votes
from kprof_servers.served.vllm import VllmServer

PUBLIC = Path(__file__).resolve().parents[2] / "artifacts" / "model_configs"
FILE = "vllm/model_executor/layers/quantization/utils/fp8_utils.py"
KERNEL = "_w8a8_triton_block_scaled_mm"
WANTED = "N=2112,K=7168,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128,128].json"


def test_a_kernel_is_cut_out_with_what_it_names(checkout_with_kernel):
    """Helpers of its own file, constants and renamed functions of others; nothing of what the rest imports."""
    root = checkout_with_kernel
    text = cut_text(root, root / FILE, KERNEL)
    assert "def add_scaled" in text
    assert "def halved" in text
    assert "rounded = halved" in text
    assert "DEPTH = tl.constexpr(2)" in text
    assert not any(word in text for word in ("heavy", "torch", "UNUSED", "get_w8a8"))


@pytest.mark.triton
def test_what_was_cut_out_can_be_imported(checkout_with_kernel):
    """The server itself cannot: it needs what is not there."""
    root = checkout_with_kernel
    module = load_module(cut(root, root / FILE, KERNEL))
    assert getattr(module, KERNEL).arg_names[:3] == ["A", "B", "C"]
    assert cut(root, root / FILE, KERNEL) == cut(root, root / FILE, KERNEL)


def test_the_default_is_read_from_the_code(checkout_with_kernel):
    """The dictionary in the function that asks for the file, with the blocks that it is called with."""
    found = default_config(checkout_with_kernel / FILE, "get_w8a8_block_fp8_configs", (128, 64))
    assert found == {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 32, "num_warps": 4,
                     "num_stages": 2}  # fmt: skip
    assert default_config(checkout_with_kernel / FILE, "another_lookup", (128, 128)) is None


def test_near_shapes_and_rows_weigh_more():
    """A bucket counts half a doubling's worth less with each that it is away, and equal ones add up."""
    tile, other = {"BLOCK_SIZE_M": 16}, {"BLOCK_SIZE_M": 64}
    near, far = TunedFile((1024, 512), "X", "", {8: tile}), TunedFile((8192, 512), "X", "", {8: other})
    assert [config for config, _ in votes([near, far], (1024, 512), 8)] == [tile, other]
    assert [config for config, _ in votes([near, far], (8192, 512), 8)] == [other, tile]
    assert votes([near], (1024, 512), 8)[0][1] == pytest.approx(1.0)
    assert votes([near], (2048, 512), 16)[0][1] == pytest.approx(2.718281828**-2)
    assert votes([near, near], (1024, 512), 8)[0][1] == pytest.approx(2.0)


def test_only_files_of_the_kind_are_asked(checkout_with_kernel):
    """Not the file itself, not another block, not another maker's GPU; another AMD GPU's where there is no own."""
    folder = (checkout_with_kernel / FILE).parent / "configs"
    text = json.dumps({"8": {"BLOCK_SIZE_M": 128}})
    for name in (
        WANTED,
        WANTED.replace("2112", "512").replace("128,128", "64,64"),
        WANTED.replace("2112", "512").replace("AMD_Instinct_MI300X", "NVIDIA_H100"),
    ):
        (folder / name).write_text(text)
    (folder / WANTED.replace("2112", "16")).write_text("{")
    found = read_all([folder], WANTED)
    assert sorted(file.sizes[0] for file in found if "AMD" in file.device) == [1024, 4096]
    mine, name = of_gpu(found, "AMD_Instinct_MI300X", served_gpu("MI300X"))
    assert ({file.device for file in mine}, name) == ({"AMD_Instinct_MI300X"}, "AMD_Instinct_MI300X")
    others, name = of_gpu(found, "AMD_Instinct_MI355X", served_gpu("MI355X"))
    assert (len(others), name) == (2, "AMD_Instinct_MI300X")


@pytest.fixture
def ranked(checkout_with_kernel):
    """A product that has no file, ranked for two batch sizes."""
    data = json.loads((PUBLIC / "qwen3-8b" / "config.json").read_text())
    (checkout_with_kernel / "config.json").write_text(json.dumps(data))
    return kprof.server_configs(
        checkout_with_kernel, server="vllm", arch="MI300X", tp=8, quant="fp8-block", batches=[8, 64],
        server_path=checkout_with_kernel, rank=True,
    )  # fmt: skip


@pytest.mark.triton
def test_missing_files_are_proposed_and_the_server_finds_them(ranked, checkout_with_kernel):
    """Each batch has what runs and what is proposed; the files written are those that the server asks for."""
    document = ranked.document
    assert document.needed
    for file in document.needed:
        assert (file.status, file.unranked) == ("default", "")
        assert file.basis == "2 tuned files of the server for other shapes, AMD_Instinct_MI300X"
        for batch in file.ranked:
            assert batch.runs.config["BLOCK_SIZE_M"] == 64
            assert batch.best.config["BLOCK_SIZE_M"] in {16, 32}
            assert batch.best.low_us <= batch.best.time_us <= batch.best.high_us
            assert 0 < batch.best.votes <= 1
    (small, large) = document.steps
    total = sum(file.layers * file.ranked[0].runs.time_us for file in document.needed)
    assert small.runs_us == pytest.approx(total, abs=0.01)
    assert small.best_us <= small.runs_us
    assert (small.rows, large.rows) == (8, 64)
    written = ranked.write(checkout_with_kernel)
    assert {Path(path).name for path in written} == {
        *(file.name for file in document.needed), "runners_up.json", "PULL_REQUEST.md"
    }  # fmt: skip
    again = kprof.server_configs(
        checkout_with_kernel, server="vllm", arch="MI300X", tp=8, quant="fp8-block", batches=[8, 64],
        server_path=checkout_with_kernel,
    ).document  # fmt: skip
    assert {file.status for file in again.needed} == {"exact"}
    for before, now in zip(document.needed, again.needed, strict=True):
        assert [batch.config for batch in now.batches] == [batch.best.config for batch in before.ranked]
    assert "Nothing here was measured" in (checkout_with_kernel / "PULL_REQUEST.md").read_text()


@pytest.mark.triton
def test_a_default_that_cannot_be_launched_is_named(checkout_with_kernel, monkeypatch):
    """Four stages are three tiles of each operand in LDS, FP8: 72 KiB, of which gfx1201 has 64."""
    path = checkout_with_kernel / FILE
    path.write_text(path.read_text().replace('"num_stages": 2', '"num_stages": 4'))
    needed = VllmServer.needed
    monkeypatch.setattr(VllmServer, "needed", lambda *asked: needed(*asked)[:1])
    data = json.loads((PUBLIC / "qwen3-8b" / "config.json").read_text()) | {"num_hidden_layers": 1}
    (checkout_with_kernel / "config.json").write_text(json.dumps(data))
    found = kprof.server_configs(
        checkout_with_kernel, server="vllm", arch="gfx1201", tp=8, quant="fp8-block", batches=[64],
        server_path=checkout_with_kernel, rank=True,
    )  # fmt: skip
    (file,) = found.document.needed
    (batch,) = file.ranked
    said = re.fullmatch(r"default cannot be launched: needs ([\d,]+) bytes of LDS, .* 65,536", batch.reason)
    assert int(said[1].replace(",", "")) >= 3 * (64 + 128) * 128
    assert (batch.unlaunchable, batch.runs) == (True, None)
    assert batch.best is not None
    assert found.summary.endswith("; 1 kernel cannot be launched with the current configuration")


def test_ranking_needs_a_server():
    """There is no kernel to compile without one."""
    with pytest.raises(kprof.KprofError, match="ranking compiles the server's own kernel, but no server was found"):
        kprof.server_configs(PUBLIC / "qwen3-8b", server="vllm", arch="MI300X", rank=True)
